# frozen_string_literal: true

module Shop
  Product = Data.define(:slug, :name, :cents) do
    def price = format("€%.2f", cents / 100.0)
  end

  class Catalogue
    PRODUCTS = [
      Product.new(slug: "anchor", name: "Anchor", cents: 124_950),
      Product.new(slug: "rope", name: "Rope", cents: 3990)
    ].freeze

    def all = PRODUCTS

    def find(slug) = PRODUCTS.find { |product| product.slug == slug }
  end
end
