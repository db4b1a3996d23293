import { Component, type ReactNode } from 'react';
import { ErrorCard } from '../ui/error-card.tsx';

interface BoundaryProps {
  /** Another place begins anew. */
  place: string;
  children: ReactNode;
}

/** Shows a fault of a page in its place, and leaves the shell around it as it is. */
export class Boundary extends Component<BoundaryProps, { error: unknown; place: string }> {
  override state = { error: undefined as unknown, place: this.props.place };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps({ place }: BoundaryProps, state: { place: string }) {
    return place === state.place ? null : { error: undefined, place };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <ErrorCard error={stale(error) ?? error} onRetry={() => location.reload()} />;
  }
}

/** After an upgrade of the server the parts of the page that was open are gone. */
const stale = (error: unknown): Error | undefined =>
  error instanceof TypeError && /import/i.test(error.message)
    ? new Error('a part of this page could not be loaded; the server may have been upgraded')
    : undefined;
