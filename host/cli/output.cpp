#include "cli/output.hpp"

#include <algorithm>
#include <iostream>

#include <gnnbench/error.hpp>

#include "report/fitted_grid.hpp"

namespace gnnbench {

std::string TextColumns::text() const {
    std::size_t columns = 0;
    for (const auto& row : rows_) columns = std::max(columns, row.size());
    return fitted_grid(rows_, std::vector(columns, TextGrid::Align::left), "  ", output_columns());
}

void print_json(std::ostream& out, const nlohmann::json& j) {
    out << j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void flush_stdout() {
    if (!std::cout.flush())
        throw EnvironmentError("cannot write to stdout; is the disk full, or the pipe closed?");
}

}  // namespace gnnbench
