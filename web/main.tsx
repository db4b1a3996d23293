import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './data/client.ts';
import { watchNetwork, whenResumed } from './live.ts';
import { findLocation } from './locations.ts';
import { preload } from './routes.tsx';
import { watchTabs } from './session/session.ts';
import { App } from './shell/app.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no place for the app');
watchNetwork();
watchTabs();
whenResumed(() => void queries.invalidateQueries());
// Its code comes while the server is asked who is signed in, not after that.
const place = findLocation(location.pathname);
if (place !== undefined) preload(place.name);
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
