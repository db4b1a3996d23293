<?php

declare(strict_types=1);

namespace Acme\Router;

final class Router
{
    /** @var array<string, callable(array<string, string>): Response> */
    private array $routes = [];

    /** @param callable(array<string, string>): Response $handler */
    public function get(string $path, callable $handler): self
    {
        $this->routes['#^' . preg_replace('#\{(\w+)\}#', '(?<$1>[^/]+)', $path) . '$#'] = $handler;

        return $this;
    }

    public function dispatch(string $path): Response
    {
        foreach ($this->routes as $pattern => $handler) {
            if (preg_match($pattern, $path, $found) === 1) {
                return $handler(array_filter($found, is_string(...), ARRAY_FILTER_USE_KEY));
            }
        }

        return new Response('Not found', 404);
    }
}
