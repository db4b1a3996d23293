import { memo, type ReactNode } from 'react';
import { parseAnsi, type Piece } from '../ui/ansi.ts';
import { searcher } from './lines.ts';

export interface ShownLine {
  seq: number;
  line: string;
}

interface LogRowProps<T extends ShownLine> {
  line: T;
  gutter: (line: T) => ReactNode;
  /** What is looked for. */
  typed: string;
  /** More classes. */
  look: string;
}

/** Longer lines are cut in the view; the download has them whole. */
const MOST_CHARACTERS = 8_000;

const Row = <T extends ShownLine>({ line, gutter, typed, look }: LogRowProps<T>) => (
  <div className={`journal-row ${look}`} data-seq={line.seq}>
    {gutter(line)}
    <span className="journal-text" dir="ltr">
      <LineText line={line} typed={typed} />
    </span>
  </div>
);

export const LogRow = memo(Row) as typeof Row;

/** What a line says, with its colours, and marks where it has what is looked for. Never markup. */
export const LineText = ({ line: { line }, typed }: { line: { line: string }; typed: string }) => {
  const long = line.length > MOST_CHARACTERS;
  const pieces = cutPieces(parseAnsi(long ? line.slice(0, MOST_CHARACTERS) : line), typed);
  if (pieces.length === 0) return '\u00a0';
  return (
    <>
      {pieces.map(({ from, text, look, hit }) => {
        if (hit)
          return (
            <mark key={from} className={look}>
              {text}
            </mark>
          );
        return look === '' ? (
          text
        ) : (
          <span key={from} className={look}>
            {text}
          </span>
        );
      })}
      {long && <span className="journal-cut">{` … ${line.length - MOST_CHARACTERS} more characters`}</span>}
    </>
  );
};

interface CutPiece extends Piece {
  from: number;
  hit: boolean;
}

/** Cuts the pieces of a line further, where what is looked for begins and ends. */
export const cutPieces = (pieces: readonly Piece[], typed: string): CutPiece[] => {
  const text = pieces.map((piece) => piece.text).join('');
  const hits = hitsIn(text, typed);
  const cut: CutPiece[] = [];
  let begin = 0;
  for (const { text: part, look } of pieces) {
    const end = begin + part.length;
    const edges = [
      begin,
      ...hits.flatMap((hit) => [hit, hit + typed.length]).filter((edge) => edge > begin && edge < end),
      end,
    ];
    for (const [index, from] of edges.slice(0, -1).entries()) {
      const hit = hits.some((at) => from >= at && from < at + typed.length);
      const to = edges[index + 1] ?? end;
      if (to > from) cut.push({ from, text: text.slice(from, to), look, hit });
    }
    begin = end;
  }
  return cut;
};

const MOST_HITS = 200;

const hitsIn = (text: string, typed: string): number[] => {
  const find = searcher(typed);
  const hits: number[] = [];
  if (find === undefined) return hits;
  for (let from = 0; hits.length < MOST_HITS;) {
    const at = find(text.slice(from));
    if (at === -1) break;
    hits.push(from + at);
    from += at + typed.length;
  }
  return hits;
};
