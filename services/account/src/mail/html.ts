/** A complete document. The blocks must already be HTML. */
export function page(title: string, blocks: readonly string[]): string {
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>`,
    '<body style="margin:0;padding:32px 16px;background:#f4f5f7;color:#1c2330;font:16px/1.5 system-ui,sans-serif">',
    '<div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:8px;overflow-wrap:anywhere">',
    ...blocks,
    '</div></body></html>',
    '',
  ].join('\n');
}

export const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);

/**
 * A name is chosen by whoever signs up, perhaps with another person's address, so it must not be able to add lines of
 * its own. Spaces keep mail programs from making links of names that are older than `MailedName`.
 */
export const oneLine = (name: string) =>
  name.replaceAll(/[\s\p{Cc}]+/gu, ' ').replaceAll(/[.。．｡](?=\p{L})|:(?=\/\/)/gu, '$& ');
