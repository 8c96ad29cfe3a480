#pragma once
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gnnbench {

/// Columns as wide as their widest cell, two blanks between, no blanks at a line's end; on a terminal they fit its
/// width, see fitted_grid(). UTF-8 counts by character.
class TextColumns {
public:
    explicit TextColumns(std::vector<std::string> header) : rows_{std::move(header)} {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.size() == 1; }
    std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// JSON as commands print it: indented, with a final newline; invalid UTF-8 is replaced, not an error.
void print_json(std::ostream& out, const nlohmann::json& j);

/// Throws EnvironmentError if stdout could not be written, as on a full disk.
void flush_stdout();

}  // namespace gnnbench
