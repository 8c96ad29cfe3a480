// How the cpu kernel chooses a format: by sizes, and for large matrices by timing a sample.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include <gnnbench/caches.hpp>
#include <gnnbench/error.hpp>

#include "cpu_support.hpp"
#include "kernels/cpu/layout_trial.hpp"
#include "kernels/cpu/row_sample.hpp"

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

/// A variable of the environment, for as long as this lives.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { unsetenv(name_); }

private:
    const char* name_;
};

/// Every row with `of_row` entries, spread over the columns without an order: large enough to be timed.
Csr scattered(std::int64_t rows, std::int64_t cols, std::int64_t of_row) {
    Csr a;
    a.rows = rows;
    a.cols = cols;
    const std::int64_t stride = cols / of_row;
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t j = 0; j < of_row; ++j) {
            const auto within =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(r * of_row + j) * 0x9E3779B97F4A7C15u >> 33) %
                stride;
            a.indices.push_back(static_cast<std::int32_t>(j * stride + within));
        }
        a.indptr.push_back(std::ssize(a.indices));
    }
    a.values.assign(a.indices.size(), 0.5);
    return a;
}
/// 8.4 million nonzeros.
Csr large() { return scattered(70'000, 240'000, 120); }

/// Milliseconds by format, and the format chosen, from a kernel's notes.
struct Times {
    std::map<std::string, double> ms;
    std::string chosen;

    explicit Times(const std::string& notes) {
        std::istringstream rest(notes.substr(notes.find("columns: ") + 9));
        for (std::string one; std::getline(rest, one, ',');) {
            const std::size_t number = one.rfind(' ', one.find(" ms") - 1);
            const std::string name = one.substr(one.find_first_not_of(' '), number - one.find_first_not_of(' '));
            ms[name] = std::stod(one.substr(number));
            if (one.find("(chosen)") != std::string::npos) chosen = name;
        }
    }
};

}  // namespace

TEST_CASE("formats: a name forces one, tiles of a width among them") {
    const Csr a = random_csr(300, 5000, 40, 5);
    for (const auto& [asked, wanted] : std::map<std::string, std::string>{{"rows", "csr"},
                                                                          {"used-rows", "csr of used rows"},
                                                                          {"tiled-1024", "tiled 1024"},
                                                                          {"tiled-2048", "tiled 2048"},
                                                                          {"tiled-12288", "tiled 12288"},
                                                                          {"tiled-16384", "tiled 16384"}})
        CHECK(cpu_kernel(1, asked)->prepare(a)->format == wanted);
}

TEST_CASE("formats: every width of tiles multiplies alike") {
    const Csr a = random_csr(500, 40'000, 400, 6);
    const HostMatrix b = random_matrix(a.cols, 33, 7);
    const auto product = [&](const char* format) {
        const auto k = cpu_kernel(2, format);
        Matrix c = k->matrix(a.rows, 33);
        k->spmm(*k->prepare(a), to_device(*k, b), c);
        return k->download(c);
    };
    const HostMatrix wanted = product("rows");
    for (const char* format : {"tiled-1024", "tiled-1536", "tiled-2048", "tiled-3072", "tiled-4096", "tiled-6144",
                               "tiled-8192", "tiled-12288", "tiled-16384"}) {
        INFO(format);
        CHECK(error(product(format), wanted) < 2 * 17 * 0x1p-24 * (8 + std::sqrt(400)));
    }
}

TEST_CASE("formats: tiles are cut for the cache that the environment names, which the notes say") {
    const Csr a = random_csr(300, 5000, 40, 5);
    for (const auto& [kib, wanted] : std::map<std::string, std::string>{
             {"256", "tiled 1024"}, {"768", "tiled 2048"}, {"1280", "tiled 3072"}, {"2048", "tiled 4096"}}) {
        const Variable cache("GNNBENCH_CPU_CACHE_KIB", kib.c_str());
        const auto k = cpu_kernel(1, "tiled");
        CHECK(k->prepare(a)->format == wanted);
        CHECK(k->notes().find("a cache of " + kib + " KiB") != std::string::npos);
    }
    for (const auto& [name, value] : {std::pair{"GNNBENCH_CPU_CACHE_KIB", "1M"},
                                      {"GNNBENCH_CPU_CACHE_KIB", "0"},
                                      {"GNNBENCH_CPU_INSTRUCTIONS", "sse9"}}) {
        const Variable wrong(name, value);
        CHECK_THROWS_AS(cpu_kernel(1), EnvironmentError);
    }
}

TEST_CASE("formats: by sizes, tiles where B does not fit the cache and rows are long") {
    const Variable cache("GNNBENCH_CPU_CACHE_KIB", "1024");  // 4,096 rows of 64 columns
    const auto chosen = [](std::int64_t cols, std::int64_t of_row) {
        return cpu_kernel(1, "untimed")->prepare(scattered(50, cols, of_row))->format;
    };
    CHECK(chosen(4096, 64) == "csr");
    CHECK(chosen(4097, 32) == "tiled 2048");
    CHECK(chosen(4097, 31) == "csr");  // fewer than 16 nonzeros in each of two tiles
}

TEST_CASE("formats: small matrices, and those with an order of their own, are not timed") {
    for (const Csr& a : {random_csr(3000, 60'000, 200, 8), [] {
                             Csr band = scattered(70'000, 240'000, 120);
                             for (std::int64_t r = 0, e = 0; r < band.rows; ++r)
                                 for (std::int64_t j = 0; j < 120; ++j, ++e)
                                     band.indices[static_cast<std::size_t>(e)] =
                                         static_cast<std::int32_t>(r + 3 * j);
                             return band;
                         }()}) {
        const auto k = cpu_kernel(2);
        CHECK(k->prepare(a)->format == cpu_kernel(2, "untimed")->prepare(a)->format);
        CHECK(k->notes().find("timed") == std::string::npos);
    }
}

TEST_CASE("formats: a large matrix has the fastest of those timed, and the notes say each time") {
    const Variable cache("GNNBENCH_CPU_CACHE_KIB", "1024");
    const Csr a = large();
    const std::vector<std::string> wide{"csr", "tiled 2048", "tiled 3072", "tiled 4096"};
    struct Asked {
        std::vector<std::int64_t> model;
        int columns;
        std::vector<std::string> candidates;
    };
    for (const Asked& asked : {Asked{{}, 64, wide}, Asked{{300, 128, 41}, 2 * 64 + 48, wide},
                               Asked{{300, 16, 7}, 2 * 16, {"csr", "tiled 8192", "tiled 12288", "tiled 16384"}}}) {
        const KernelSetting setting{.threads = 2,
                                    .params = Params(PluginCatalog().find(PluginKind::kernel, "cpu").params),
                                    .widths = asked.model};
        const auto k = PluginCatalog().kernel("cpu")->create(setting);
        const std::string format = k->prepare(a)->format, notes = k->notes();
        INFO(notes);
        REQUIRE(notes.find("70000 x 240000 with 8400000 nonzeros times " + std::to_string(asked.columns) +
                           " columns: ") != std::string::npos);
        const Times times(notes);
        // Other tiles are tried only where those of the middle width are not far behind rows.
        const std::string& middle = asked.candidates[2];
        REQUIRE((times.ms.contains("csr") && times.ms.contains(middle)));
        if (times.ms.at(middle) < 1.45 * times.ms.at("csr")) CHECK(times.ms.size() == asked.candidates.size());
        if (times.ms.at(middle) > 1.55 * times.ms.at("csr")) CHECK(times.ms.size() == 2);
        for (const auto& [name, ms] : times.ms) CHECK((std::ranges::count(asked.candidates, name) == 1 && ms > 0));
        CHECK(times.chosen == format);
        REQUIRE(times.ms.contains(format));
        // The rules' choice stays where it is at most 3% slower; notes round to 0.1 ms.
        for (const auto& [name, ms] : times.ms) CHECK(times.ms.at(format) <= ms / 0.97 + 0.2);
    }
}

TEST_CASE("formats: in one process equal matrices have one format, whichever kernel prepares them") {
    const Csr a = large();
    const auto first = cpu_kernel(2), again = cpu_kernel(2);
    const auto in_double = cpu_kernel(2, "auto", DType::f64);
    const auto one = first->prepare(a), two = again->prepare(a), three = in_double->prepare(a);
    CHECK(one->format == two->format);
    CHECK(one->format == three->format);
    CHECK(first->notes() == again->notes());  // not timed a second time: times would differ
    CHECK(first->notes() == in_double->notes());
    const HostMatrix b = random_matrix(a.cols, 5, 9);
    Matrix c = first->matrix(a.rows, 5), d = again->matrix(a.rows, 5);
    first->spmm(*one, to_device(*first, b), c);
    again->spmm(*two, to_device(*again, b), d);
    CHECK((first->download(c).values == again->download(d).values));
    // Another matrix of the same size is another question.
    Csr other = a;
    for (std::int32_t& column : other.indices) column = static_cast<std::int32_t>(a.cols - 1 - column);
    const auto third = cpu_kernel(2);
    CHECK(third->prepare(other)->rows == a.rows);
    CHECK(third->notes() != first->notes());
}

TEST_CASE("formats: what a model multiplies, and the panels that a trial has of it") {
    using Widths = std::vector<std::int64_t>;
    CHECK(cpu::product_widths({602, 128, 41}) == Widths{128, 41});
    CHECK(cpu::product_widths({16, 100, 7}) == Widths{16, 7});
    CHECK(cpu::product_widths({33}) == Widths{33});
    CHECK(cpu::product_widths({}).empty());

    using Panels = std::vector<cpu::TrialPanels>;
    CHECK(cpu::trial_panels({}) == Panels{{64, 1}});
    CHECK(cpu::trial_panels({128, 41}) == Panels{{64, 2}, {48, 1}});
    CHECK(cpu::trial_panels({16, 7}) == Panels{{16, 2}});
    // 100 columns are cut into panels of 48 and 64; 9 need one of 16, the least, which is left out.
    CHECK(cpu::trial_panels({100, 41, 9}) == Panels{{64, 1}, {48, 2}});
}

TEST_CASE("whether rows that are attended to are in tiles depends on how far they lie, whole") {
    const Variable small("GNNBENCH_CPU_CACHE_KIB", "256");
    constexpr std::int64_t tile = 1024;  // 64 columns of so many rows fill that
    // Rows of 1,024 columns fill more than half of the last-level cache, panels of 64 a sixteenth of that.
    const std::int64_t cols = last_level_cache_bytes() / (2 * 4 * 1024) + tile, tiles = (cols + tile - 1) / tile;
    const auto tiled = [&](std::int64_t entries_of_segment, std::int64_t columns) {
        const PluginCatalog catalog;
        const auto kernel =
            catalog.kernel("cpu")->create({.threads = 1,
                                           .params = Params(catalog.find(PluginKind::kernel, "cpu").params),
                                           .widths = {1, columns},
                                           .heads = 8});
        return kernel->prepare(scattered(8, cols, tiles * entries_of_segment))->format.starts_with("tiled");
    };
    CHECK(tiled(3, 1024));
    CHECK_FALSE(tiled(1, 1024));
    CHECK_FALSE(tiled(3, 64));
    CHECK(tiled(17, 64));
}

TEST_CASE("formats: a sample of rows by hand") {
    // Row r has r % 3 entries, in columns r, r + 1.
    Csr a{12, 14, {0}, {}, {}};
    for (std::int32_t r = 0; r < 12; ++r) {
        for (std::int32_t j = 0; j < r % 3; ++j) {
            a.indices.push_back(r + j);
            a.values.push_back(r + 0.5 * j);
        }
        a.indptr.push_back(std::ssize(a.indices));
    }
    // 6 runs, 1 in 3 taken: the second, rows 2 and 3, and the fifth, rows 8 and 9.
    const auto s = cpu::sample_runs(a, {0, 2, 4, 6, 8, 10, 12}, 3, 1, 2);
    CHECK(s.first == std::vector<std::int64_t>{0, 2, 4});
    CHECK(s.rows.indptr == std::vector<std::int64_t>{0, 2, 2, 4, 4});
    CHECK(s.rows.indices == std::vector<std::int32_t>{2, 3, 8, 9});
    CHECK(s.rows.values == std::vector<double>{2, 2.5, 8, 8.5});
    CHECK(s.rows.cols == 14);
    CHECK(s.times == Approx((12 + 2 * 12) / (4 + 2 * 4.0)));  // nonzeros and twice the rows
    // At least as many as asked, at most all.
    CHECK(cpu::sample_runs(a, {0, 6, 12}, 3, 2, 1).rows.indptr == a.indptr);
    CHECK(cpu::sample_runs(a, {0, 6, 12}, 3, 9, 1).rows.values == a.values);

    // Only the entries in even columns: (2, 2) and (8, 8); work is nonzeros alone.
    std::vector<char> even(14);
    for (std::size_t c = 0; c < even.size(); c += 2) even[c] = 1;
    const auto e = cpu::sample_runs(a, {0, 2, 4, 6, 8, 10, 12}, 3, 1, 2, &even);
    CHECK(e.rows.indptr == std::vector<std::int64_t>{0, 1, 1, 2, 2});
    CHECK(e.rows.indices == std::vector<std::int32_t>{2, 8});
    CHECK(e.rows.values == std::vector<double>{2, 8});
    CHECK(e.times == Approx(12 / 2.0));

    Csr square = a;
    square.cols = 12;
    for (std::int32_t& c : square.indices) c = std::min(c, 11);
    // Vertices in falling order, 2 runs of 2: positions 2 and 3 (rows 9, 8), 7 and 8 (rows 4, 3).
    const auto p = cpu::sample_positions(square, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 2, 4, 1);
    CHECK(p.first == std::vector<std::int64_t>{0, 2, 4});
    CHECK(p.rows.indptr == std::vector<std::int64_t>{0, 0, 2, 3, 3});
    CHECK(p.rows.indices == std::vector<std::int32_t>{3, 2, 7});
    CHECK(p.rows.values == std::vector<double>{8, 8.5, 4});
}
