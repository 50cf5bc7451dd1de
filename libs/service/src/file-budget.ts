import { type ByteBudget, createByteBudget } from '@attribution/http';

/** The budget of spooled files. An account has a third of it: two uploads, or an export of a large estate. */
export const createFileBudget = (limit: number): ByteBudget => createByteBudget({ limit, share: 1 / 3 });
