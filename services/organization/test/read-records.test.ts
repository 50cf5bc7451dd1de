import { randomInt } from 'node:crypto';
import { type EstateMedia, Problem } from '@attribution/contracts';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'csv-stringify/sync';
import { readRecords } from '../src/imports/read-records.ts';

const columns = ['kind', 'external_id', 'name', 'note'];

/** A record, an error of a row, or the refusal of the file, which comes last. */
type Read = { row: number; record?: unknown; error?: string } | { refused: string };

async function read(content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, media: EstateMedia): Promise<Read[]> {
  const all: Read[] = [];
  async function* flow() {
    yield* content;
  }
  try {
    for await (const records of readRecords(flow(), media, columns)) all.push(...records);
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'validation-error') throw error;
    all.push({ refused: error.detail });
  }
  return all;
}

const csv = (text: string | Buffer) => read([Buffer.from(text)], 'text/csv');
const ndjson = (text: string | Buffer) => read([Buffer.from(text)], 'application/x-ndjson');
const head = 'kind,external_id,name\n';
const record = (row: number, name: string) => ({ row, record: { kind: 'group', external_id: 'a', name } });
const line = (name: string) => `group,a,${name}\n`;

describe('CSV', () => {
  test('each record has a text for each column of the header, in any order', async () => {
    expect(await csv('name,kind,external_id\nOne,group,a\n,location,\n')).toEqual([
      { row: 2, record: { kind: 'group', external_id: 'a', name: 'One' } },
      { row: 3, record: { kind: 'location', external_id: '', name: '' } },
    ]);
  });

  test.each([
    ['CRLF', head.replace('\n', '\r\n') + line('x').replace('\n', '\r\n')],
    ['CRLF and LF', head + line('x').replace('\n', '\r\n')],
    ['no line break at the end', head + line('x').trimEnd()],
    ['a byte order mark', `\uFEFF${head}${line('x')}`],
    ['a byte order mark before a quoted header', `\uFEFF"kind","external_id","name"\n${line('x')}`],
    ['quotes that are not needed', `${head}"group","a","x"\r\n`],
  ])('a file with %s reads the same', async (_what, text) => {
    expect(await csv(text)).toEqual([record(2, 'x')]);
  });

  test.each([
    ['a comma', '"a,b"', 'a,b'],
    ['a quote', '"say ""x"""', 'say "x"'],
    ['nothing but quotes', '""""""', '""'],
    ['line breaks', '"a\r\nb\nc\rd"', 'a\r\nb\nc\rd'],
    ['spaces around it', ' x ', ' x '],
    ['a byte order mark', '\uFEFFx', '\uFEFFx'],
    ['a replacement character', 'x\uFFFD', 'x\uFFFD'],
    ['a carriage return alone', 'a\rb', 'a\rb'],
    ['letters of four bytes', '🏬é', '🏬é'],
  ])('a cell with %s is kept as it is', async (_what, cell, name) => {
    expect(await csv(head + line(cell))).toEqual([record(2, name)]);
  });

  test('rows are numbered as in a spreadsheet: blank lines count, line breaks within a cell do not', async () => {
    const text = `${head}${line('"a\nb\n\nc"')}\n\r\n${line('d')}\n`;
    expect(await csv(text)).toEqual([record(2, 'a\nb\n\nc'), record(5, 'd')]);
  });

  test.each([
    ['', 'row 1: must be a header with the names of the columns.'],
    ['\uFEFF', 'row 1: must be a header with the names of the columns.'],
    ['kind,external_id,colour\n', 'row 1: "colour" is not a column; there are kind, external_id, name, note.'],
    ['kind,external_id,Name\n', 'row 1: "Name" is not a column; there are kind, external_id, name, note.'],
    ['kind,external_id,\n', 'row 1: "" is not a column; there are kind, external_id, name, note.'],
    ['\nkind,external_id\n', 'row 1: "" is not a column; there are kind, external_id, name, note.'],
    ['kind;external_id\n', 'row 1: "kind;external_id" is not a column; there are kind, external_id, name, note.'],
    ['kind,external_id,__proto__\n', 'row 1: "__proto__" is not a column; there are kind, external_id, name, note.'],
    ['kind,external_id,kind\n', 'row 1: the column "kind" is named more than once.'],
    ['kind,name\n', 'row 1: the column external_id is missing.'],
    ['external_id', 'row 1: the column kind is missing.'],
    ['kind,external_id,"name', 'row 1: opens a quote that is never closed.'],
    [
      'kind,external_id,na"me\n',
      'row 1: has a stray quote: a cell with quotes must be quoted, and its quotes doubled.',
    ],
    ['kind,external_id\0\n', 'row 1: contains a NUL character.'],
  ])('the header %j is refused', async (text, refused) => {
    expect(await csv(text)).toEqual([{ refused }]);
  });

  const stray = 'has a stray quote: a cell with quotes must be quoted, and its quotes doubled.';
  test.each([
    ['too few cells', 'group,a\n', 'has 2 cells, and the header has 3.'],
    ['too many cells', 'group,a,x,\n', 'has 4 cells, and the header has 3.'],
    ['a million cells', `${','.repeat(1_000_000)}\n`, 'has 1000 cells or more, and the header has 3.'],
    ['one empty cell, in quotes', '""\n', 'has 1 cells, and the header has 3.'],
    ['a quote in a plain cell', 'group,a,5" screen\n', stray],
    ['a quote at the end of a plain cell', 'group,a,5"\n', stray],
    ['a quoted cell that goes on', 'group,a,"x"y\n', stray],
    ['a quoted cell with a space behind it', 'group,"a" ,x\n', stray],
    ['a quoted cell with a carriage return behind it', 'group,"a"\r,x\n', stray],
    ['a space before a quote', 'group,a, "x"\n', stray],
    ['a single quote in a quoted cell', 'group,a,"x"y"\n', stray],
    ['a NUL', 'group,a,x\0y\n', 'contains a NUL character.'],
    ['a NUL behind a quoted cell', 'group,"a"\0,x\n', 'contains a NUL character.'],
  ])('%s is an error of its row, and the next row is read', async (_what, text, error) => {
    expect(await csv(head + line('x') + text + line('y'))).toEqual([record(2, 'x'), { row: 3, error }, record(4, 'y')]);
  });

  test('a quote that is opened by mistake ends at the next quoted cell', async () => {
    const text = `${head}${line('"x')}${line('"y"')}${line('z')}`;
    expect(await csv(text)).toEqual([{ row: 2, error: stray }, record(3, 'z')]);
  });

  test('a quote that is not closed refuses the file by the row that opens it, after all rows before it', async () => {
    const text = `${head}${line('x')}${line('"y')}${line('z').repeat(1000)}`;
    expect(await csv(text)).toEqual([record(2, 'x'), { refused: 'row 3: opens a quote that is never closed.' }]);
  });

  test('a cell of 1 MB is read', async () => {
    const name = 'é'.repeat(500_000);
    expect(await csv(head + line(name) + line(`"${name}"`))).toEqual([record(2, name), record(3, name)]);
  });

  test.each([
    ['a cell', `group,a,${'x'.repeat(4_194_304 - 9)}\n`, true],
    ['a cell', `group,a,${'x'.repeat(4_194_304 - 8)}\n`, false],
    ['empty cells', `${','.repeat(5_000_000)}\n`, false],
    ['quotes', `group,a,"${'""'.repeat(3_000_000)}"\n`, false],
  ])('a record of more than 4 MiB of %s refuses the file by its row', async (_what, text, passes) => {
    const [first, second, ...more] = await csv(head + line('x') + text);
    expect([first, more]).toEqual([record(2, 'x'), []]);
    if (passes) expect(second).toMatchObject({ row: 3, record: expect.anything() });
    else expect(second).toMatchObject({ refused: expect.stringMatching(/^row 3: is larger than 4194304 bytes/) });
  });

  test('a quote that is left open in a large file refuses it before all of it is read', async () => {
    let given = 0;
    function* endless() {
      yield Buffer.from(`${head}${line('"x')}`);
      for (;;) {
        given++;
        yield Buffer.alloc(65_536, 'group,a,y\n');
      }
    }
    const refused = 'row 2: is larger than 4194304 bytes: a quote may be left open.';
    expect(await read(endless(), 'text/csv')).toEqual([{ refused }]);
    expect(given).toBeLessThan(70);
  });
});

describe('NDJSON', () => {
  const object = (name: unknown) => ({ kind: 'group', external_id: 'a', name });
  const json = (name: unknown) => `${JSON.stringify(object(name))}\n`;

  test('each line is an object, numbered by its line; blank lines are skipped', async () => {
    const text = `\uFEFF${json('x')}\n \t\r\n${json(['y', { z: null }]).replace('\n', '\r\n')}${json(1).trimEnd()}`;
    expect(await ndjson(text)).toEqual([
      { row: 1, record: object('x') },
      { row: 4, record: object(['y', { z: null }]) },
      { row: 5, record: object(1) },
    ]);
  });

  test('an empty file has no records', async () => {
    expect([await ndjson(''), await ndjson('\n\n')]).toEqual([[], []]);
  });

  test.each([
    ['{"kind":"group"', 'is not valid JSON.'],
    ['{} {}', 'is not valid JSON.'],
    ['kind,external_id', 'is not valid JSON.'],
    ['\u00a0', 'is not valid JSON.'],
    ['{"name":"a\0"}', 'is not valid JSON.'],
    ['[]', 'is not a JSON object.'],
    ['null', 'is not a JSON object.'],
    ['"x"', 'is not a JSON object.'],
    ['{"name":"a\\u0000"}', 'record.name: contains a NUL character.'],
    ['{"name":"\\ud800"}', 'record.name: contains half of a surrogate pair.'],
    ['{"__proto__":{}}', 'record: has a member named __proto__, which cannot be kept.'],
    ['{"lat":1e999}', 'record.lat: is a number out of range.'],
    [`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, expect.stringMatching(/nested deeper than 32 levels/)],
  ])('the line %j is an error of its row, and the next row is read', async (text, error) => {
    expect(await ndjson(`${json('x')}${text}\n${json('y')}`)).toEqual([
      { row: 1, record: object('x') },
      { row: 2, error },
      { row: 3, record: object('y') },
    ]);
  });

  test('a line of 4 MiB is read; a longer one refuses the file before its end is read', async () => {
    const longest = `{"a":"${'x'.repeat(4_194_304 - 8)}"}`;
    expect(await ndjson(longest)).toEqual([{ row: 1, record: { a: expect.any(String) } }]);
    const refused = 'row 2: is larger than 4194304 bytes.';
    expect(await ndjson(`{}\n${longest} `)).toEqual([{ row: 1, record: {} }, { refused }]);
    function* endless() {
      yield Buffer.from('{}\n{"a":"');
      for (;;) yield Buffer.alloc(65_536, 'x');
    }
    expect(await read(endless(), 'application/x-ndjson')).toEqual([{ row: 1, record: {} }, { refused }]);
  });
});

describe.each([
  ['text/csv', head, (n: number) => `group,${n},x\n`, 2],
  ['application/x-ndjson', '', (n: number) => `{"external_id":"${n}"}\n`, 1],
] as const)('%s', (media, first, lineOf, firstRow) => {
  test('100,000 records are read, and one more refuses the file by its row', async () => {
    const lines = Array.from({ length: 100_000 }, (_, n) => lineOf(n)).join('');
    const all = await read([Buffer.from(`${first}${lines}\n`)], media);
    expect(all).toHaveLength(100_000);
    expect(all.at(-1)).toMatchObject({ row: 99_999 + firstRow, record: { external_id: '99999' } });
    const more = await read([Buffer.from(`${first}${lines}\n${lineOf(1)}`)], media);
    expect(more).toHaveLength(100_001);
    const row = 100_001 + firstRow;
    expect(more.at(-1)).toEqual({ refused: `row ${row}: is more than the 100000 records that a file may have.` });
  });

  test.each([
    ['an invalid byte', [0xff]],
    ['a letter cut short', [0xc3]],
    ['an overlong form', [0xc0, 0x80]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
  ])('%s is not UTF-8 and refuses the file by its row, after those before it', async (_what, bytes) => {
    const text = [first, lineOf(1), lineOf(2).trimEnd(), Buffer.from(bytes), '\n', lineOf(3)];
    const [one, ...more] = await csvOr(media, Buffer.concat(text.map((part) => Buffer.from(part))));
    expect(one).toMatchObject({ row: firstRow, record: { external_id: '1' } });
    expect(more).toEqual([{ refused: `row ${firstRow + 1}: is not valid UTF-8.` }]);
  });

  test.each(['utf16le', 'utf16be'])('%s is not UTF-8', async (order) => {
    const text = Buffer.from(`\uFEFF${first}${lineOf(1)}`, 'utf16le');
    const [refused] = await csvOr(media, order === 'utf16le' ? text : text.swap16());
    expect(refused).toEqual({ refused: 'row 1: is not valid UTF-8.' });
  });

  test('records are yielded as they are read, in constant memory, and a reader that stops closes the source', async () => {
    let given = 0;
    let stopped = false;
    async function* source() {
      try {
        yield Buffer.from(first);
        for (;;) {
          given++;
          yield Buffer.from(lineOf(given).repeat(100));
        }
      } finally {
        stopped = true;
      }
    }
    for await (const records of readRecords(source(), media, columns)) {
      expect(records.length).toBeLessThanOrEqual(200);
      expect(given).toBeLessThan(records[0] && 'record' in records[0] ? Number(records[0].record.external_id) + 3 : 0);
      if (given > 500) break;
    }
    expect([given > 500, stopped]).toEqual([true, true]);
  });
});

const csvOr = (media: EstateMedia, bytes: Buffer) => (media === 'text/csv' ? csv(bytes) : ndjson(bytes));

describe('a file reads the same however it is cut into chunks', () => {
  const files: [string, EstateMedia, Buffer][] = [
    [
      'a mark, CRLF, quotes and breaks',
      'text/csv',
      Buffer.from(`\uFEFFkind,"external_id",name\r\n"a🏬","é""\r\n",\r\n\r\nb,c,d"\r\nb,"c"\n`),
    ],
    ['an open quote', 'text/csv', Buffer.from(`${head}${line('"é""')}${line('')}`)],
    [
      'what is not UTF-8',
      'text/csv',
      Buffer.concat([Buffer.from(`\uFEFF${head}é,b,c\n"é`), Buffer.from([0xc3]), Buffer.from('",b,c\n')]),
    ],
    ['lines of JSON', 'application/x-ndjson', Buffer.from(`\uFEFF{"a":"🏬é"}\r\n\n[1]\n{"b":"\\u00e9"}`)],
    [
      'JSON that is not UTF-8',
      'application/x-ndjson',
      Buffer.concat([Buffer.from('{"a":"é"}\n{"b":"'), Buffer.from([0xff]), Buffer.from('"}\n')]),
    ],
  ];

  test.each(files)('%s', async (_what, media, bytes) => {
    const whole = await read([bytes], media);
    expect(whole.length).toBeGreaterThan(0);
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await read(single, media)).toEqual(whole);
    for (let at = 0; at <= bytes.length; at++)
      expect(await read([bytes.subarray(0, at), bytes.subarray(at)], media)).toEqual(whole);
    for (let at = 0; at < bytes.length; at++)
      expect(await read([bytes.subarray(0, at), bytes.subarray(at, at + 1), bytes.subarray(at + 1)], media)).toEqual(
        whole,
      );
  });
});

/** Characters that are hard to read back. */
const bits = ['"', '""', ',', '\n', '\r\n', '\r', 'é', '🏬', ' ', 'x', '\uFEFF', '\uFFFD', ';', "'", '\\', '=1'];
const anyText = () => Array.from({ length: randomInt(0, 12) }, () => bits[randomInt(bits.length)]).join('');

test('what a CSV writer writes is read back, in any chunks', async () => {
  for (let round = 0; round < 300; round++) {
    const rows = Array.from({ length: randomInt(1, 20) }, () => columns.map(anyText));
    const text = stringify([columns, ...rows], {
      bom: randomInt(2) === 0,
      quoted: randomInt(2) === 0,
      record_delimiter: randomInt(2) === 0 ? '\n' : '\r\n',
      eof: randomInt(2) === 0,
      // By default it quotes only for its own record delimiter, and not for a carriage return.
      quoted_match: /[\r\n]|^\uFEFF/,
    });
    const bytes = Buffer.from(text);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = randomInt(1, 40);
      chunks.push(bytes.subarray(at, at + length));
      at += length;
    }
    const wanted = rows.map((cells, n) => ({
      row: n + 2,
      record: Object.fromEntries(columns.map((name, i) => [name, cells[i]])),
    }));
    expect({ text, all: await read(chunks, 'text/csv') }).toEqual({ text, all: wanted });
  }
});

test.each([
  ['text/csv', 'kind,external_id\n'],
  ['application/x-ndjson', ''],
] as const)('%s: more than 100,000 blank lines are refused', async (media, head) => {
  const few = Buffer.from(`${head}${'\n'.repeat(100_000)}`);
  expect(await read([few], media)).toEqual([]);
  const many = Buffer.concat([few, Buffer.from('\n')]);
  expect(await read([many], media)).toEqual([
    { refused: expect.stringContaining('is one of more than 100000 blank lines') },
  ]);
});
