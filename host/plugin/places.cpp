#include "plugin/places.hpp"

#include <boost/dll/runtime_symbol_info.hpp>

namespace gnnbench {
namespace {

namespace fs = std::filesystem;

/// The prefix of a program in <prefix>/bin or in <prefix>/libexec/gnnbench.
fs::path prefix() {
    const fs::path folder = boost::dll::program_location().parent_path();
    const fs::path parent = folder.parent_path();
    return parent.filename() == "libexec" ? parent.parent_path() : parent;
}

}  // namespace

fs::path own_plugin_folder() { return prefix() / "lib/gnnbench/plugins"; }

fs::path share_folder() { return prefix() / "share/gnnbench"; }

}  // namespace gnnbench
