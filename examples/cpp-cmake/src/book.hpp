#pragma once

#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

struct Entry {
  std::string name;
  std::string message;
};

/// The entries of a guest book, kept in memory; safe to use from several threads.
class Book {
 public:
  void sign(Entry entry);
  [[nodiscard]] nlohmann::json entries() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// The entry that a request's body holds; throws nlohmann::json::exception when it holds none.
[[nodiscard]] Entry parse_entry(const std::string& body);
