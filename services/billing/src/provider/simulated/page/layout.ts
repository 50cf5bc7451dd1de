import { createHash } from 'node:crypto';
import { type Html, html } from './html.ts';

const style = `
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1a1f36; background: #eef1f6; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem 1rem; }
main { width: 100%; max-width: 27rem; background: #fff; border-radius: 14px; padding: 1.75rem;
  box-shadow: 0 1px 3px rgb(26 31 54 / .12), 0 12px 32px rgb(26 31 54 / .10); }
h1 { font-size: 1.15rem; font-weight: 600; margin: 1rem 0 0; overflow-wrap: anywhere; }
h2 { font-size: .9rem; margin: 1.75rem 0 .5rem; }
p { margin: .5rem 0; }
.badge { display: inline-block; margin: 0; padding: .15rem .6rem; border-radius: .8rem; font-size: .8rem; font-weight: 600;
  color: #6b3a00; background: #fff0d6; }
.amount { font-size: 2rem; font-weight: 700; line-height: 1.2; margin: .25rem 0 0; }
.amount small { font-size: 1rem; font-weight: 400; }
.quiet, small { color: #4b5468; }
.alert { padding: .65rem .85rem; border-radius: 8px; color: #8c1420; background: #fdecee; border: 1px solid #f3b9be; }
label { display: block; font-size: .9rem; font-weight: 600; margin: .9rem 0 .25rem; }
input { width: 100%; font: inherit; padding: .6rem .7rem; border: 1px solid #7b8499; border-radius: 8px; background: #fff;
  color: inherit; }
input[aria-invalid] { border-color: #b3202e; }
.error { margin: .25rem 0 0; font-size: .85rem; color: #8c1420; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: .9rem; }
button, .button { font: inherit; font-weight: 600; border-radius: 8px; padding: .6rem 1rem; cursor: pointer;
  border: 1px solid #7b8499; background: #fff; color: #1a1f36; text-decoration: none; display: inline-block; }
.main { width: 100%; text-align: center; margin-top: 1.25rem; border-color: #3a36c9; background: #4540d9; color: #fff; }
.row { display: flex; gap: .75rem; margin-top: .75rem; }
.row > * { flex: 1; }
ul { list-style: none; margin: 0; padding: 0; border: 1px solid #d5dae3; border-radius: 8px; }
li { display: flex; align-items: center; justify-content: space-between; gap: .75rem; padding: .5rem .75rem; }
li + li { border-top: 1px solid #e4e8ef; }
li button { padding: .25rem .7rem; font-size: .85rem; }
code { font: .88rem/1.4 ui-monospace, monospace; white-space: nowrap; }
li small { display: block; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1rem; margin: 1rem 0 0; }
dt { color: #4b5468; } dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid #8d89f5; outline-offset: 2px; }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

export interface Page {
  readonly status: number;
  readonly title: string;
  readonly content: Html;
  /** The URL that the form may redirect to, because browsers apply `form-action` to redirects too. */
  readonly leadsTo?: string | undefined;
}

export type Shown = Page | { readonly redirect: string };

/** Renders the page for an id. `form` is the submitted form, if any. Returns undefined when there is no such page. */
export type PageOf = (id: string, form: URLSearchParams | undefined) => Shown | undefined;

export const documentOf = ({ title, content }: Page): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${{ markup: style }}</style>
</head>
<body><main>
<p class="badge">Simulated payment: no money moves</p>
${content}
</main></body>
</html>
`.markup;

/** The page loads nothing, runs nothing and cannot be framed. */
export const policyOf = ({ leadsTo }: Page): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action 'self'${leadsTo ? ` ${leadsTo}` : ''}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export const notice = (status: number, title: string, text: string, more?: Html): Page => {
  return { status, title, content: html`<h1>${title}</h1><p>${text}</p>${more}` };
};
