/** What an error says, without the values of a call: where Prisma finds an argument at fault it shows the whole call with them; its last paragraph says what. */
export function messageOf({ name, message }: Error): string {
  return name === 'PrismaClientValidationError' ? message.slice(message.lastIndexOf('\n\n')).trim() : message;
}
