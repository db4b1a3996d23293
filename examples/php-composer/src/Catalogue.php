<?php

declare(strict_types=1);

namespace Shop;

final class Catalogue
{
    /** @return list<Product> */
    public function all(): array
    {
        return [
            new Product('anchor', 'Anchor', 1249.5),
            new Product('rope', 'Rope', 39.9),
        ];
    }

    public function find(string $slug): ?Product
    {
        return array_find($this->all(), fn (Product $product): bool => $product->slug === $slug);
    }
}
