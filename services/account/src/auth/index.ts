export { forgotPasswordEndpoint } from './forgot-password.ts';
export { loginEndpoint } from './login.ts';
export { logoutEndpoint } from './logout.ts';
export { type CheckNewPassword, newPasswordCheck } from './new-password.ts';
export { refreshSessionEndpoint } from './refresh-session.ts';
export { resendVerificationEndpoint } from './resend-verification.ts';
export { resetPasswordEndpoint } from './reset-password.ts';
export { signupEndpoint } from './signup.ts';
export { verifyEmailEndpoint } from './verify-email.ts';
