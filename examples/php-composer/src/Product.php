<?php

declare(strict_types=1);

namespace Shop;

use JsonSerializable;
use NumberFormatter;

final readonly class Product implements JsonSerializable
{
    public function __construct(public string $slug, public string $name, private float $price)
    {
    }

    public function price(): string
    {
        return (new NumberFormatter('de_DE', NumberFormatter::CURRENCY))->formatCurrency($this->price, 'EUR');
    }

    /** @return array<string, string> */
    public function jsonSerialize(): array
    {
        return ['name' => $this->name, 'price' => $this->price()];
    }
}
