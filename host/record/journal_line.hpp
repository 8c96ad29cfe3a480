#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// A journal's line, without its end: the object with `"sum"`, the checksum of what precedes that key, as its last.
///   {"epoch":1,"type":"epoch",…,"sum":"1f0c5e77a3b2d490"}
std::string journal_line(const nlohmann::json& object);

/// What a line says, without the checksum. Lines of older builds have none; one that a changed byte makes look so is
/// damaged.
struct ReadLine {
    std::optional<nlohmann::json> object;
    const char* damage = "";  ///< why there is no object: "its checksum is not that of its text"
};
ReadLine read_journal_line(std::string_view text);

/// Whether the text is a whole line with its checksum.
bool is_checked_line(std::string_view text);

}  // namespace gnnbench
