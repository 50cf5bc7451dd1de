/** Markup that is already escaped. */
export interface Html {
  readonly markup: string;
}

type Value = string | Html | undefined | false | readonly Value[];

/** Builds markup. Every value that is not markup itself is escaped, for text and for quoted attributes. */
export const html = (strings: TemplateStringsArray, ...values: Value[]): Html => {
  return { markup: strings.reduce((whole, string, n) => whole + markupOf(values[n - 1]) + string) };
};

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function markupOf(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (sign) => escapes[sign] ?? '');
  return 'markup' in value ? value.markup : value.map(markupOf).join('');
}
