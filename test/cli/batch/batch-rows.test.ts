import { describe, expect, it } from 'vitest';
import { type BatchRow, parseRows } from '../../../src/cli/batch/batch-rows.ts';
import { decodeText } from '../../../src/cli/input/input-text.ts';

/** Reads the bytes of a file as rows. */
const read = (content: string | Buffer): readonly BatchRow[] =>
  parseRows(decodeText(typeof content === 'string' ? Buffer.from(content) : content, 'rows.csv'), '.');

const dated = (start_date: string, end_date: string): string =>
  JSON.stringify({ key: 'a', dataset: [{ analysis_type: 'AffinityTransactions', start_date, end_date }] });

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('rows of a batch', () => {
  it.each([
    ['an empty file', '', 'There are no rows'],
    ['a row without a key', '{"name":"North"}', 'Line 1 needs a "key"'],
    ['a key that is no folder name', '{"key":"../north"}', 'Line 1 needs a "key"'],
    ['a key that is a folder', '{"key":".."}', '(the dot neither first nor last), not "..". The key names a folder.'],
    [
      'a file that is no path',
      '{"key":"a","name":"A","file":4}',
      'Line 1: "file" must be the path of a cohort file, not 4.',
    ],
    ['two equal keys', '{"key":"north","name":"N"}\n{"key":"North"}', 'Line 2 and Line 1 have the same key'],
    ['a line that is not JSON', '{"key":"north","name":"N"}\n{"key', 'Line 2 must be valid JSON'],
    ['a row that is no object', '[{"key":"north","name":"N"},4]', 'Row 2 is not an object'],
    ['a field __proto__', '{"key":"north","dataset":[{"__proto__":{}}]}', '"__proto__"'],
    ['a column __proto__', 'key,a.__proto__.b\nnorth,1', '"__proto__"'],
    ['a record with too many cells', 'key,name\nnorth,North,4', 'Line 2 has more cells'],
    ['a quote that is not closed', 'key,name\nnorth,"North\n', 'Line 2 has a quote'],
    ['a quote inside a cell', 'key,name\nnorth,No"rth\n', 'Line 2 has a quote'],
    ['a header without a key', 'name\nNorth', 'no column "key".'],
    ['a value in a column without a name', 'key,name,\nnorth,North,\nsouth,South,x\n', 'is empty, has an empty part'],
    ['a number with a comma', 'key,project_id\nnorth,"1,000"', 'to 9007199254740991, not "1,000"'],
    ['a number that would be rounded', 'key,project_id\na,9007199254740993\n', 'not "9007199254740993"'],
    ['the same in JSON', '{"key":"a","project_id":9007199254740993}', 'Line 1: "project_id" is beyond 900'],
    ['a field twice', '{"key":"a","name":"x","b":[{"name":1}],"name":"y"}', 'Line 1 has the field "name" twice'],
    ['a day that does not exist', dated('2026-02-29', '2026-03-01'), 'dataset.0.start_date must be an existing date'],
    ['a day as Excel writes it', dated('2026-05-01', '5/31/2026'), 'dataset.0.end_date must be an existing date'],
    ['dates in the wrong order', dated('2026-05-31', '2026-05-01'), 'end_date 2026-05-01 is before start_date 2026-05'],
    ['a column with an empty part', 'key,a..b\n', 'column "a..b" is empty, has an empty part'],
    ['a column that is a part of another', 'key,dataset,dataset.0.x\n', 'column "dataset"'],
    [
      'a file that was cut off',
      'key,name,a\nnorth,North,\nwest,We',
      'Line 3 has fewer cells than the header (2, not 3)',
    ],
    ['two files in one', 'key,name\njan,January\nkey,name\nfeb,February\n', 'Line 3 repeats the header'],
    ['a total', 'key,name\njan,January\nTotal,\n', 'Line 3, "Total", has no fields of an audience'],
    [
      'letters of Windows',
      latin1('key,name\nnorth,M\u00fcnchen\n'),
      'line 2 is not UTF-8. Save the file as UTF-8, in Ex',
    ],
    ['UTF-16', Buffer.from('\uFEFFkey,name\n', 'utf16le'), 'is UTF-16, not UTF-8'],
    ['a spreadsheet', 'PK\x03\x04', 'is a spreadsheet (xlsx) or a zip file'],
    ['gzip', Buffer.from([0x1f, 0x8b, 8]), 'is compressed with gzip: decompress it first'],
  ])('are refused: %s', (_, content, message) => {
    expect(() => read(content)).toThrow(message);
  });

  it.each([',', ';', '|', '\t'])('are read with "%s", which a line "sep=" for Excel names', (separator) => {
    const text = ['sep=,', 'key,name', 'north,North'].join('\r\n').replaceAll(',', separator);
    expect(read(text)).toEqual([{ key: 'north', body: { name: 'North' } }]);
    expect(() => read(`${text}\r\nsouth`)).toThrow('Line 4 has fewer cells');
  });

  it('numbers in a CSV become numbers in the body', () => {
    expect(read('Key,name,cohort_id,,\na,A,81,,\n,,,,\n\n')).toEqual([
      { key: 'a', body: { name: 'A', cohort_id: 81 } },
    ]);
  });
});
