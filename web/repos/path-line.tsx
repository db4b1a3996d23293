import { Link } from 'wouter';
import { repoTo, type RepoId } from './places.ts';

interface PathLineProps {
  id: RepoId;
  at: string | undefined;
  path: string;
}

/** The way to a file or a folder, each folder a link. */
export const PathLine = ({ id, at, path }: PathLineProps) => {
  const parts = path === '' ? [] : path.split('/');
  return (
    <nav aria-label="Path" className="path-line mono grow">
      <ol>
        <li>
          {parts.length === 0 ? (
            <span aria-current="page">{id.repo}</span>
          ) : (
            <Link href={repoTo(id, 'tree', '', { ref: at })}>{id.repo}</Link>
          )}
        </li>
        {parts.map((part, index) => {
          const whole = parts.slice(0, index + 1).join('/');
          return (
            <li key={whole}>
              {index === parts.length - 1 ? (
                <span aria-current="page">{part}</span>
              ) : (
                <Link href={repoTo(id, 'tree', whole, { ref: at })}>{part}</Link>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
};
