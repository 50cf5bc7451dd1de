/** Reads rows page by page, in the order of their ids. `find` returns at most `limit` rows after the given id. */
export async function* pagesOf<Row>(
  find: (after: string) => Promise<readonly Row[]>,
  limit: number,
  idOf: (row: Row) => string,
): AsyncGenerator<readonly Row[]> {
  for (let after = ''; ; ) {
    const page = await find(after);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = idOf(last);
  }
}

/** Does the work for one page after the other, two at a time, so that a database with more than one core uses two. */
export async function inTwoLanes<T>(pages: AsyncIterator<T>, work: (page: T) => Promise<void>): Promise<void> {
  let turn: Promise<unknown> = Promise.resolve();
  const next = (): Promise<IteratorResult<T>> => {
    const mine = turn.then(() => pages.next());
    turn = mine.catch(() => {});
    return mine;
  };
  const lane = async () => {
    for (let one = await next(); !one.done; one = await next()) await work(one.value);
  };
  await Promise.all([lane(), lane()]);
}
