<?php

declare(strict_types=1);

namespace Shop;

final readonly class View
{
    public function __construct(private string $folder)
    {
    }

    /** @param array<string, mixed> $values */
    public function render(string $template, array $values): string
    {
        extract($values);
        ob_start();
        require "{$this->folder}/{$template}.php";

        return (string) ob_get_clean();
    }
}
