#include "cli/written.hpp"

#include <fstream>
#include <iostream>

#include <gnnbench/error.hpp>

#include "core/existing_folder.hpp"

namespace gnnbench {

void write_output(const std::filesystem::path& output, std::string_view text) {
    if (output.empty()) {
        std::cout << text;
        return;
    }
    require_folder_of(output, "--output");
    std::ofstream out(output, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out)
        throw EnvironmentError("cannot write '" + output.string() + "'; may you write there, is the disk full?");
    std::cerr << "wrote " << output.string() << '\n';
}

}  // namespace gnnbench
