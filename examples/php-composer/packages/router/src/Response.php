<?php

declare(strict_types=1);

namespace Acme\Router;

final readonly class Response
{
    public function __construct(
        public string $body,
        public int $status = 200,
        public string $type = 'text/html; charset=utf-8',
    ) {
    }

    public static function json(mixed $value): self
    {
        return new self(json_encode($value, JSON_THROW_ON_ERROR), 200, 'application/json');
    }

    public function send(): void
    {
        http_response_code($this->status);
        header('Content-Type: ' . $this->type);
        echo $this->body;
    }
}
