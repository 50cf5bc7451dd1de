/** Texts that the form below leaves as they are, which are most. */
const plain = /^[!-@[-`a-z{-~]+( [!-@[-`a-z{-~]+)*$/;

/** The form in which texts are compared: compatibility characters are unified, letters are small, spaces are single. */
export function normalized(text: string): string {
  const lower = text.toLowerCase();
  if (plain.test(lower)) return lower;
  return text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
}
