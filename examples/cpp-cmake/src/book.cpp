#include "book.hpp"

#include <nlohmann/json.hpp>
#include <utility>

void Book::sign(Entry entry) {
  const std::lock_guard lock{mutex_};
  entries_.push_back(std::move(entry));
}

nlohmann::json Book::entries() const {
  const std::lock_guard lock{mutex_};
  auto list = nlohmann::json::array();
  for (const auto& [name, message] : entries_) list.push_back({{"name", name}, {"message", message}});
  return list;
}

Entry parse_entry(const std::string& body) {
  const auto json = nlohmann::json::parse(body);
  return {.name = json.at("name"), .message = json.at("message")};
}
