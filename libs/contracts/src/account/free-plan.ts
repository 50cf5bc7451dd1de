/** The limits of accounts without a subscription. */
export const freePlan = { users: 25, locations: 100, screens: 500 } as const;
