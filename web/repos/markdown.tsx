import { useQuery } from '@tanstack/react-query';
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { CodeBlock } from '../ui/code.tsx';
import { dataUrl, imageType } from './images.ts';
import { decodeEntities, decodePath, linkOf, type Linked } from './markdown-text.ts';
import { resolvePath, type RepoId } from './places.ts';
import { fileRead } from './reads.ts';

interface MarkdownProps {
  id: RepoId;
  at: string | undefined;
  /** Where the text lies: its links are relative to it. */
  folder: string;
  text: string;
}

type Where = Omit<MarkdownProps, 'text'>;

/** Larger texts are shown as they are. */
const LARGEST = 300_000;

/** Markdown as elements of the page. No HTML is ever made of it: tags within the text are left out. */
const Markdown = ({ text, ...where }: MarkdownProps) => {
  const tokens = useMemo(() => parse(text), [text]);
  if (tokens === undefined) return <pre className="plain-text">{text}</pre>;
  return <div className="markdown">{render(tokens, where)}</div>;
};

const parse = (text: string): Token[] | undefined => {
  if (text.length > LARGEST) return undefined;
  try {
    const tokens = lexer(text);
    return depthOf(tokens) <= DEEPEST ? tokens : undefined;
  } catch {
    // Nested without end: it is shown as it is.
    return undefined;
  }
};

const DEEPEST = 60;

const depthOf = (tokens: readonly Token[], depth = 0): number => {
  if (depth > DEEPEST) return depth;
  return Math.max(
    depth,
    ...tokens.map((token) =>
      'tokens' in token && token.tokens !== undefined ? depthOf(token.tokens, depth + 1) : depth,
    ),
  );
};

const render = (tokens: readonly Token[] | undefined, where: Where): ReactNode[] =>
  // Tokens have no other name than their place.
  // oxlint-disable-next-line react/no-array-index-key
  (tokens ?? []).map((token, index) => <One key={index} token={token as MarkedToken} where={where} />);

const One = ({ token, where }: { token: MarkedToken; where: Where }): ReactNode => {
  const inside = (): ReactNode[] => render('tokens' in token ? token.tokens : undefined, where);
  switch (token.type) {
    case 'heading':
      return <Heading depth={token.depth}>{inside()}</Heading>;
    case 'paragraph':
      return <p>{inside()}</p>;
    case 'text':
      return token.tokens === undefined ? decodeEntities(token.text) : inside();
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inside()}</strong>;
    case 'em':
      return <em>{inside()}</em>;
    case 'del':
      return <del>{inside()}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote>{inside()}</blockquote>;
    case 'code':
      return <CodeBlock code={token.text} />;
    case 'list':
      return <List list={token} where={where} />;
    case 'table':
      return <TableOf table={token} where={where} />;
    case 'link':
      return <LinkOf link={linkOf(token.href, where)}>{inside()}</LinkOf>;
    case 'image':
      return <Image href={token.href} alt={decodeEntities(token.text)} where={where} />;
    // Tags are left out; the others have no place of their own.
    case 'html':
    case 'def':
    case 'space':
    case 'checkbox':
    case 'list_item':
    default:
      return null;
  }
};

/** The page has its h1 and the card its h2 already. */
const Heading = ({ depth, children }: { depth: number; children: ReactNode }) => {
  if (depth === 1) return <h3 className="first">{children}</h3>;
  if (depth === 2) return <h4>{children}</h4>;
  return <h5>{children}</h5>;
};

const List = ({ list, where }: { list: Tokens.List; where: Where }) => {
  const items = list.items.map((item, index) => (
    // oxlint-disable-next-line react/no-array-index-key
    <li key={index}>
      {item.task && (
        <input
          type="checkbox"
          checked={item.checked === true}
          disabled
          aria-label={item.checked === true ? 'done' : 'to do'}
        />
      )}
      {render(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        where,
      )}
    </li>
  ));
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
};

const TableOf = ({ table, where }: { table: Tokens.Table; where: Where }) => (
  <div className="table-wrap" role="region" aria-label="Table" tabIndex={0}>
    <table>
      <thead>
        <tr>
          {table.header.map((cell, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <th key={index} scope="col">
              {render(cell.tokens, where)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, at) => (
          // oxlint-disable-next-line react/no-array-index-key
          <tr key={at}>
            {row.map((cell, index) => (
              // oxlint-disable-next-line react/no-array-index-key
              <td key={index}>{render(cell.tokens, where)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const LinkOf = ({ link, children }: { link: Linked; children: ReactNode }) => {
  if (link.kind === 'none') return <span title="This link leads nowhere that is safe">{children}</span>;
  if (link.kind === 'here') return <Link href={link.to}>{children}</Link>;
  return (
    <a href={link.to} rel="noreferrer nofollow" target="_blank">
      {children}
    </a>
  );
};

/** Pictures of the repository are shown; those of other hosts are links, since this page asks no other host for anything. */
const Image = ({ href, alt, where }: { href: string; alt: string; where: Where }) => {
  const path = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(href)
    ? undefined
    : resolvePath(where.folder, decodePath(href.replace(/[?#].*$/, '')));
  const type = path === undefined ? undefined : imageType(path);
  if (path === undefined || type === undefined) {
    const words = alt === '' ? 'picture' : alt;
    return <LinkOf link={linkOf(href, where)}>{words}</LinkOf>;
  }
  return <OwnImage path={path} type={type} alt={alt} where={where} />;
};

const OwnImage = ({ path, type, alt, where }: { path: string; type: string; alt: string; where: Where }) => {
  const { data: file } = useQuery(fileRead(where.id, { ref: where.at, path }));
  if (file === undefined || file.next_offset !== null) return <span className="quiet">{alt}</span>;
  return <img src={dataUrl(type, file)} alt={alt} />;
};

export default Markdown;
