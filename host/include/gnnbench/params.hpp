#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gnnbench {

enum class ParamType : std::int32_t {
    boolean,
    integer,
    real,
    choice,
    text,  ///< one line, possibly empty
    path,  ///< a file or folder, absolute once resolved: YAML's is relative to its file; empty: none
    /// A path to a program that the plugin starts; empty: none. gnnbench starts nothing of a stranger's without asking, so
    /// a plugin that starts a program must declare it so.
    program,
};

constexpr bool is_path(ParamType type) { return type == ParamType::path || type == ParamType::program; }
constexpr bool is_verbatim(ParamType type) { return type == ParamType::text || is_path(type); }

/// One parameter a plugin declares. Plain data: it is read before any C++ symbol of the plugin is touched.
struct ParamDecl {
    const char* name;  ///< as written in YAML, snake_case
    ParamType type;
    const char* default_value;  ///< as text: "true", "4", "0.5", "cut"
    double minimum, maximum;    ///< inclusive; for integer and real
    const char* choices;        ///< for choice: the allowed words, separated by '|'; else nullptr
    const char* help;           ///< one line
};

using ParamValue = std::variant<bool, std::int64_t, double, std::string>;

/// A plugin's resolved parameters: every declared one is present, with a value of its type and range.
class Params {
public:
    Params() = default;
    /// The declared defaults. Throws PluginError where a declaration is itself unusable.
    explicit Params(std::span<const ParamDecl> declared);

    /// Parses `text` as the declared type; throws SpecError naming the parameter, what was found and what is allowed.
    void set(const ParamDecl& declared, std::string_view text);

    bool boolean(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    const std::string& choice(std::string_view name) const;
    /// The value of a parameter of type text or path.
    const std::string& text(std::string_view name) const;

    const std::map<std::string, ParamValue, std::less<>>& values() const { return values_; }
    bool operator==(const Params&) const = default;

private:
    const ParamValue& at(std::string_view name) const;
    std::map<std::string, ParamValue, std::less<>> values_;
};

/// Values by parameter's name, as YAML writes them.
using ParamTexts = std::map<std::string, std::string>;

/// The value as YAML would write it.
std::string to_text(const ParamValue& value);

}  // namespace gnnbench
