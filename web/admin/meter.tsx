import { bytes, percent } from '../ui/format.ts';

interface MeterProps {
  label: string;
  note?: string;
  /** In bytes. */
  used: number;
  total: number;
}

const FULL = 0.95;
const FILLING = 0.85;

/** How much of something is used, in words and as a bar. */
export const Meter = ({ label, note, used, total }: MeterProps) => {
  const share = total === 0 ? 0 : used / total;
  const tone = share > FULL ? 'bad' : share > FILLING ? 'warn' : '';
  const text = `${bytes(used)} of ${bytes(total)} used, ${percent(share)}`;
  return (
    <div className="meter">
      <span className="row wrap">
        <strong className="grow">{label}</strong>
        <span className="small quiet">{text}</span>
      </span>
      <div
        className={`progress ${tone}`}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={text}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
      {note !== undefined && <span className="small quiet">{note}</span>}
    </div>
  );
};
