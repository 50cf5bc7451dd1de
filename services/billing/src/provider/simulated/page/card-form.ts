import { type CardErrors, testCards } from '../cards.ts';
import { type Html, html } from './html.ts';

export interface CardFormState {
  readonly errors?: CardErrors;
  /** Why the last attempt was refused. */
  readonly refused?: string;
}

/**
 * `close` is the label of the button that leaves without paying. The form never shows what was typed before, because a
 * card number must not be written anywhere.
 */
export const cardForm = (pay: string, close: string | undefined, { errors = {}, refused }: CardFormState): Html => html`
${refused !== undefined && html`<p class="alert" role="alert" id="refused">${refused}</p>`}
<form method="post" autocomplete="off">
${field('number', 'Card number', '1234 1234 1234 1234', errors.number)}
<div class="pair">
<div>${field('expiry', 'Expiry', 'MM/YY', errors.expiry)}</div>
<div>${field('cvc', 'CVC', '123', errors.cvc)}</div>
</div>
<button class="main" name="action" value="pay">${pay}</button>
<div class="row">
<button name="action" value="decline" formnovalidate>Decline</button>
${close !== undefined && html`<button name="action" value="close" formnovalidate>${close}</button>`}
</div>
<h2>Test cards</h2>
<ul>
${testCards.map(
  ({ number, does, behaviour }) => html`<li><span><code>${grouped(number)}</code><small>${does}</small></span>
<button name="action" value="use:${behaviour}" formnovalidate aria-label="Use the card ending in ${number.slice(-4)}">Use</button></li>
`,
)}
</ul>
<p class="quiet"><small>With any expiry ahead and any three digits. Decline takes a card that is declined.</small></p>
</form>`;

/** The 3-D Secure question of the bank. */
export const bankQuestion = (): Html => html`
<h2>3-D Secure</h2>
<p>Your bank asks whether it is you.</p>
<form method="post">
<button class="main" name="action" value="confirm">Yes, it is me</button>
<div class="row"><button name="action" value="refuse">No</button></div>
</form>`;

const field = (name: string, label: string, example: string, error: string | undefined): Html => html`
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" inputmode="numeric" autocomplete="off" required maxlength="25" placeholder="${example}"${
  error !== undefined && html` aria-invalid="true" aria-describedby="${name}-error"`
}>
${error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`}`;

const grouped = (number: string) => number.replaceAll(/(\d{4})(?=\d)/g, '$1 ');
