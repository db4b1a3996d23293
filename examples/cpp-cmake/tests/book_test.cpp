#include <cstdlib>
#include <nlohmann/json.hpp>

#include "book.hpp"

int main() {
  Book book;
  book.sign(parse_entry(R"({"name": "Ada", "message": "Hello"})"));
  return book.entries().dump() == R"([{"message":"Hello","name":"Ada"}])" ? EXIT_SUCCESS : EXIT_FAILURE;
}
