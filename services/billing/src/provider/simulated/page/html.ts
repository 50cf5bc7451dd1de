/** Markup that is already escaped. */
export interface Html {
  readonly markup: string;
}

type Part = string | Html | undefined | false | readonly Part[];

/** Builds markup. Every value that is not markup itself is escaped, for text and for quoted attributes. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html => {
  return { markup: strings.reduce((whole, string, n) => whole + markupOf(parts[n - 1]) + string) };
};

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (typeof part === 'string') return part.replaceAll(/[&<>"']/g, (sign) => escapes[sign] ?? '');
  return 'markup' in part ? part.markup : part.map(markupOf).join('');
}
