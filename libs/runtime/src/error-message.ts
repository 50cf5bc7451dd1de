/**
 * An error's message without the values of the call. Prisma's validation errors show the whole call with its values; their
 * last paragraph says what is wrong.
 */
export function messageOf({ name, message }: Error): string {
  return name === 'PrismaClientValidationError' ? message.slice(message.lastIndexOf('\n\n')).trim() : message;
}
