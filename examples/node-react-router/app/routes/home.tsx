import type { Route } from "./+types/home";

export function meta({}: Route.MetaArgs) {
  return [{ title: "New React Router App" }];
}

export function loader() {
  return { node: process.version };
}

export default function Home({ loaderData }: Route.ComponentProps) {
  return (
    <main>
      <h1>Hello from React Router</h1>
      <p>{loaderData.node}</p>
    </main>
  );
}
