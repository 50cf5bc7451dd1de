export const platformName = 'Attribution Platform';
