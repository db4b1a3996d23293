import { useState } from 'react';
import { bytes } from '../ui/format.ts';
import { Empty } from '../ui/layout.tsx';

interface PictureProps {
  src: string;
  name: string;
  size: number;
}

/** A picture as the browser shows it, and how large it is. What is none after all is said to be none. */
export const Picture = ({ src, name, size }: PictureProps) => {
  const [state, setState] = useState<{ width: number; height: number } | 'broken'>();
  if (state === 'broken')
    return (
      <Empty icon="file" title="No picture that can be shown">
        {bytes(size)}, named as one. It may be damaged, or in a form that this browser does not know.
      </Empty>
    );
  return (
    <div className="picture">
      <img
        src={src}
        alt={`${name} as a picture`}
        onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => setState({ width, height })}
        onError={() => setState('broken')}
      />
      <span className="small faint">
        {state !== undefined && state.width > 0 && `${state.width} × ${state.height} · `}
        {bytes(size)}
      </span>
    </div>
  );
};
