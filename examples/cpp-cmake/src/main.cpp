#include <httplib.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "book.hpp"

namespace {

constexpr auto greeting = "<!doctype html><title>Guest book</title><h1>Hello from C++</h1>";

int port() {
  const char* value = std::getenv("PORT");
  return value == nullptr ? 8080 : std::stoi(value);
}

}  // namespace

int main() {
  Book book;
  httplib::Server server;

  server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(greeting, "text/html; charset=utf-8");
  });
  server.Get("/entries", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(book.entries().dump(), "application/json");
  });
  server.Post("/entries", [&](const httplib::Request& request, httplib::Response& response) {
    try {
      book.sign(parse_entry(request.body));
      response.status = 201;
    } catch (const nlohmann::json::exception& error) {
      response.status = 400;
      response.set_content(error.what(), "text/plain");
    }
  });

  std::cout << "listening on port " << port() << std::endl;
  return server.listen("0.0.0.0", port()) ? EXIT_SUCCESS : EXIT_FAILURE;
}
