// Every experiment and every table that comes with the program: each profile can be read, and each line of a table shows a
// cell of some profile.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <catch2/catch.hpp>

#include "record/cell_filter.hpp"
#include "spec/cell.hpp"
#include "spec/claims_file.hpp"
#include "spec/experiment.hpp"
#include "spec/fields.hpp"
#include "spec/installed.hpp"
#include "spec/table_definition.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

const fs::path shipped_folder = fs::path(GNNBENCH_SOURCE_DIR) / "experiments";

struct ShippedFile {
    fs::path path;
    std::string text;
    std::string name() const { return path.lexically_relative(shipped_folder).string(); }
};

std::vector<ShippedFile> shipped_files(bool tables) {
    std::vector<ShippedFile> all;
    for (const auto& entry : fs::recursive_directory_iterator(shipped_folder)) {
        if (entry.path().extension() != ".yaml") continue;
        std::ifstream in(entry.path());
        ShippedFile file{entry.path(), {std::istreambuf_iterator<char>(in), {}}};
        if (is_claims_file(file.text)) continue;
        if (is_table_definition(file.text) == tables) all.push_back(std::move(file));
    }
    std::ranges::sort(all, {}, &ShippedFile::path);
    return all;
}

/// Names in `profiles`; "" where there is none.
std::vector<std::string> profiles_in(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream lines(text);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(' ') && !line.starts_with('#')) inside = line == "profiles:";
        const auto colon = line.find(':');
        if (inside && colon > 2 && line.starts_with("  ") &&
            std::isalpha(static_cast<unsigned char>(line[2])) != 0)
            all.push_back(line.substr(2, colon - 2));
    }
    if (all.empty()) all.emplace_back();
    return all;
}

/// No store is shipped, so each word of the files may name one.
class NamedStores final : public InstalledDatasets {
public:
    explicit NamedStores(const std::vector<ShippedFile>& files) : InstalledDatasets(Catalog("/nowhere")) {
        for (const ShippedFile& file : files) {
            std::string word;
            for (const char c : file.text + " ")
                if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
                    word += c;
                else if (!word.empty())
                    words_.insert(std::exchange(word, {}));
        }
    }
    std::vector<std::string> stores() const override { return {words_.begin(), words_.end()}; }
    void complete(DatasetChoice& choice) const override {
        if (choice.source->contains("store"))
            choice.name = (*choice.source)["store"];
        else
            InstalledDatasets::complete(choice);
    }

private:
    std::set<std::string> words_;
};

bool all_are_built(const InstalledPlugins& plugins) {
    const auto built = [&](PluginKind kind, const char* folder) {
        for (const auto& entry : fs::directory_iterator(fs::path(GNNBENCH_SOURCE_DIR) / "plugins" / folder))
            if (const std::string name = entry.path().filename(); entry.is_directory() && name != "cuda")
                if (fs::exists(entry.path() / "CMakeLists.txt") && !plugins.find(kind, name)) return false;
        return true;
    };
    return built(PluginKind::strategy, "strategies") && built(PluginKind::partitioner, "partitioners") &&
           built(PluginKind::kernel, "kernels");
}

/// The cells of each experiment in all its profiles, by its name without a profile. `absent`: experiments with files that
/// are not there.
struct ShippedCells {
    std::map<std::string, std::vector<CellFields>> cells;
    std::set<std::string> absent;
};

ShippedCells read_all(const InstalledPlugins& plugins) {
    ShippedCells all;
    const auto files = shipped_files(false);
    const NamedStores stores(files);
    LoadOptions options{.overrides = {}, .cores = 2, .hosts = 1};
    // Where `cuda` is not built, what asks for it is read as if it asked for `cpu`.
    const auto load = [&](const ShippedFile& file) {
        options.overrides.clear();
        try {
            return load_experiment(file.path, options, plugins, stores);
        } catch (const ExperimentError&) {
            if (plugins.find(PluginKind::kernel, "cuda")) throw;
        }
        options.overrides = {"kernel=cpu"};
        return load_experiment(file.path, options, plugins, stores);
    };
    for (const ShippedFile& file : files)
        for (const std::string& profile : profiles_in(file.text)) {
            INFO(file.name() << ", profile " << profile);
            options.profile = profile;
            try {
                const Experiment e = load(file);
                CHECK_FALSE(e.cells.empty());
                std::string name = e.name;
                if (!profile.empty() && name.ends_with("-" + profile))
                    name.resize(name.size() - profile.size() - 1);
                for (const Cell& c : e.cells)
                    all.cells[name].push_back(cell_fields(to_json(c, JsonFor::identity)));
            } catch (const ExperimentError& error) {
                if (std::string(error.what()).find("there is no file or folder") == std::string::npos)
                    FAIL(error.what());
                WARN("skipped: " << error.what());
                all.absent.insert(file.path.stem());
            }
        }
    return all;
}

/// Chooses among the cells of a table's experiments, as tables do.
class Chooser {
public:
    explicit Chooser(std::vector<CellFields> cells) : cells_(std::move(cells)), filter_(cells_, names()) {}
    bool any(const Conditions& where) const {
        std::vector<bool> fits(cells_.size(), true);
        for (const Condition& c : where) {
            const std::vector<bool> holds = c.expression.empty() ? having(c) : filter_.where(c.expression);
            for (std::size_t i = 0; i < fits.size(); ++i) fits[i] = fits[i] && holds[i];
        }
        return std::ranges::count(fits, true) > 0;
    }

private:
    static std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const ChoosableField& f : choosable_fields()) all.push_back(f.name);
        return all;
    }
    std::vector<bool> having(const Condition& c) const {
        std::vector<bool> holds;
        for (const CellFields& cell : cells_)
            holds.push_back(cell.contains(c.field) ? std::ranges::count(c.values, field_text(cell, c.field)) > 0
                                                   : c.or_none);
        return holds;
    }

    std::vector<CellFields> cells_;
    CellFilter filter_;
};

/// Whether the place has a number of ours: a cell's and that of the cell it is set against, or one that a command counted.
bool can_show(const TableDefinition& t, const Chooser& cells, const TableLine& row, const TableLine& column) {
    if (!row.measured || !column.measured) return false;
    if (t.counted.contains({row.name, column.name})) return true;
    const Measure& m = column.measure ? *column.measure : row.measure ? *row.measure : t.measure;
    Conditions where = t.where;
    for (const TableLine* line : {&row, &column})
        where.insert(where.end(), line->where.begin(), line->where.end());
    return !m.metric.empty() && cells.any(where) && cells.any(m.base);
}

}  // namespace

TEST_CASE(
    "every shipped experiment can be read in every profile, and every line of a table shows one of its cells") {
    const InstalledPlugins plugins;
    if (!all_are_built(plugins)) {
        WARN("skipped: its plugins are not built");
        return;
    }
    const ShippedCells all = read_all(plugins);
    CHECK(all.cells.size() > 30);
    int lines = 0;
    for (const ShippedFile& file : shipped_files(true)) {
        const TableDefinition t = load_table_definition(file.path);
        std::vector<CellFields> cells;
        bool complete = true;
        for (const std::string& name : t.experiments) {
            const auto found = all.cells.find(name);
            if (found != all.cells.end()) cells.insert(cells.end(), found->second.begin(), found->second.end());
            complete = complete && found != all.cells.end();
            INFO(t.name << " asks for experiment " << name);
            CHECK((found != all.cells.end() || !all.absent.empty()));
        }
        if (!complete) continue;
        const Chooser chooser(std::move(cells));
        const auto check = [&](const TableLine& line, const char* kind, const auto& shows) {
            if (!line.measured || t.experiments.empty()) return;
            ++lines;
            INFO(t.name << ": no cell of any profile is in the " << kind << " '" << line.name << "'");
            CHECK(shows());
        };
        for (const TableLine& row : t.rows)
            check(row, "row", [&] {
                return std::ranges::any_of(t.columns,
                                           [&](const TableLine& c) { return can_show(t, chooser, row, c); });
            });
        for (const TableLine& column : t.columns)
            check(column, "column", [&] {
                return std::ranges::any_of(t.rows,
                                           [&](const TableLine& r) { return can_show(t, chooser, r, column); });
            });
    }
    CHECK(lines > 300);
}

TEST_CASE("the claims of the four papers are valid, and those that are not judged say what is missing") {
    for (const char* paper : {"mg-gcn", "gossip", "plexus", "demirci"}) {
        INFO(paper);
        const ClaimsFile file = load_claims_file(shipped_folder / paper / "claims.yaml");
        CHECK(file.name == paper);
        CHECK(file.claims.size() > 100);
        for (const PaperClaim& claim : file.claims) {
            INFO(claim.id);
            CHECK(claim.says.ends_with('.'));
            CHECK((claim.judged() || claim.missing.size() > 10));
        }
    }
}
