// How long the database takes to answer when it is large, and a plan of many cells takes. Limits are those of
// docs/database.md; with --check the program fails where one is not kept.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "record/database.hpp"
#include "record/query.hpp"
#include "record/sqlite.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

struct Options {
    std::int64_t epochs = 1'000'000, cells = 10'000;
    int rounds = 3;
    double query_limit_s = 0.1, plan_limit_s = 1.0;
    bool check = false;
    std::string keep;
};

struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "gnnbench-bench-XXXXXX").string();
        if (!mkdtemp(name.data())) throw EnvironmentError("cannot make " + name);
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

/// The shortest of some rounds, in seconds.
template <class Do>
double best_s(int rounds, Do work) {
    double best = 1e300;
    for (int r = 0; r < rounds; ++r) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

constexpr std::int64_t epochs_of_a_trial = 250, trials_of_a_cell = 10;

/// Cells of ten trials of 250 epochs of one rank with three phases and two operations each; made by SQL, as journals would
/// take minutes.
void fill(const fs::path& path, std::int64_t epochs) {
    const std::int64_t trials = std::max<std::int64_t>(10, epochs / epochs_of_a_trial),
                       cells = (trials + trials_of_a_cell - 1) / trials_of_a_cell;
    Database database(path);
    sqlite::Connection& c = database.connection();
    c.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF", "fill quickly");
    sqlite::Transaction t(c);
    const auto series = [](std::int64_t n) {
        return fmt::format("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {}) ", n);
    };
    c.execute(
        "INSERT INTO machine (id, fingerprint, description, cpu, cores) VALUES (1, 'm', '{}', 'a CPU', 2);"
        "INSERT INTO experiment (id, name, first_seen) VALUES (1, 'one', ''), (2, 'two', '')",
        "fill");
    c.execute(series(cells) +
                  "INSERT INTO cell (id, digest, identity, verification_key, dataset, dataset_digest, scheme, "
                  "scheme_label, partitioner, "
                  "partitioner_label, kernel, gpus, threads_per_rank, precision, hidden, layers, optimizer, "
                  "learning_rate, dropout, "
                  "seed, epochs, warmup) SELECT i + 1, printf('%032x', i), json_object('gpus', i % 64), "
                  "printf('v%d', i % 100), printf('d%d', i % 5), "
                  "'d', printf('s%d', i % 10), printf('s%d', i % 10), 'p', 'p', 'cpu', 1 << (i / 10 % 7), 1, "
                  "'float32', '64', 2, 'adam', "
                  "0.01, 0, i, 248, 2 FROM n;" +
                  series(cells) + "INSERT INTO experiment_cell SELECT 1 + i % 2, i + 1, i FROM n",
              "fill");
    c.execute(
        series(trials) + fmt::format("INSERT INTO trial (id, uuid, cell_id, experiment_id, machine_id, number, "
                                     "block, purpose, status, started, provenance, "
                                     "ranks, epoch_s, exposed_comm_s, sent_bytes_per_epoch, messages_per_epoch, "
                                     "volume_as_stated, measured_epochs, edge_cut, "
                                     "connectivity_minus_one, vertex_imbalance, nonzero_imbalance, partition_s) "
                                     "SELECT i + 1, printf('%08x-0000', i), "
                                     "1 + i / {0}, 1 + i / {0} % 2, 1, i % {0}, i % {0}, 'measure', CASE WHEN i % "
                                     "50 = 7 THEN 'oom' ELSE 'ok' END, "
                                     "printf('2026-01-01T%08d', i), '{{\"commit\":\"abc\",\"build\":\"b\"}}', 1, "
                                     "0.01 + (i % 97) / 1e5, 0.001, 1000, 10, 1, 248, 5, 4, "
                                     "1, 1, 0.1 FROM n",
                                     trials_of_a_cell),
        "fill");
    const std::string each = fmt::format("FROM trial, ({} SELECT i FROM n) e", series(epochs_of_a_trial));
    c.execute("INSERT INTO epoch SELECT trial.id, e.i, e.i < 2, 1.0 / (1 + e.i), 0.01 " + each, "fill");
    c.execute("INSERT INTO rank_epoch SELECT trial.id, e.i, 0, 0.01, 0.001, 1000000 " + each, "fill");
    c.execute("INSERT INTO rank_phase SELECT trial.id, e.i, 0, p.value, 0.003 " + each +
                  ", json_each('[\"comm\",\"gemm\",\"spmm\"]') p",
              "fill");
    c.execute("INSERT INTO rank_volume SELECT trial.id, e.i, 0, p.value, 'payload', 500, 500, 5 " + each +
                  ", json_each('[\"all_reduce\",\"broadcast\"]') p",
              "fill");
    c.execute("INSERT INTO stated_volume SELECT trial.id, 0, 'broadcast', 'payload', 500, 500, 5 FROM trial",
              "fill");
    t.commit();
    c.execute("PRAGMA wal_checkpoint(TRUNCATE)", "fill");
}

class Report {
public:
    explicit Report(bool check) : check_(check) {}
    void add(const std::string& what, double seconds, double limit_s, const std::string& beside) {
        const bool kept = seconds <= limit_s;
        fmt::print("{:<44} {:>9.1f} ms   limit {:>6.0f} ms{}  {}\n", what, 1e3 * seconds, 1e3 * limit_s,
                   kept ? "" : "  NOT KEPT", beside);
        std::fflush(stdout);
        all_kept_ = all_kept_ && kept;
    }
    int code() const { return check_ && !all_kept_ ? 1 : 0; }

private:
    bool check_, all_kept_ = true;
};

void bench_queries(const Options& o, const fs::path& path, Report& report) {
    const auto value = [&](const char* sql) { return std::get<std::string>(query(path, sql).rows.at(0).at(0)); };
    const std::string trial = value("SELECT uuid FROM trial ORDER BY id LIMIT 1 OFFSET 5"),
                      cell = value("SELECT digest FROM cell ORDER BY id LIMIT 1");
    const auto time = [&](const std::string& what, const std::string& sql,
                          const std::vector<SqlValue>& arguments) {
        std::size_t rows = 0;
        const double s = best_s(o.rounds, [&] { rows = query(path, sql, arguments).rows.size(); });
        report.add(what, s, o.query_limit_s, fmt::format("{} rows", rows));
    };
    for (const NamedQuery& q : named_queries())
        time("named " + q.name, q.sql,
             q.argument.empty() ? std::vector<SqlValue>{} : std::vector<SqlValue>{trial});
    for (const char* view : {"trials", "latest", "epochs", "phases", "volumes", "spans", "evaluations",
                             "verifications", "tags", "imports"})
        time(fmt::format("view {} of a trial", view), fmt::format("SELECT * FROM {} WHERE trial = ?1", view),
             {trial});
    for (const char* view :
         {"cells", "trials", "latest", "epochs", "phases", "volumes", "spans", "evaluations", "verifications"})
        time(fmt::format("view {} of a cell", view), fmt::format("SELECT * FROM {} WHERE cell = ?1", view),
             {cell});
}

/// The program itself, start-up included, without a database and with one that has nothing of it.
void bench_plan(const Options& o, const fs::path& folder, const fs::path& database, Report& report) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "gnnbench";
    if (!fs::exists(program)) {
        fmt::print("skipped: there is no {} to plan with\n", program.string());
        return;
    }
    const fs::path file = folder / "plan.yaml";
    std::string seeds;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, o.cells / 16); ++i)
        seeds += fmt::format("{}{}", i ? ", " : "", i);
    std::ofstream(file) << "name: plan\ndataset: {generate: dcsbm, vertices: 20000, average_degree: 40, features: "
                           "64, classes: 8}\n"
                           "matrix:\n  scheme: [cagnet-1d, mg-gcn]\n  gpus: [2, 4]\n  partitioner: [random, "
                           "block]\n  train.lr: [0.1, 0.01]\n  seed: ["
                        << seeds << "]\n  exclude: {where: gpus > 1000, reason: there are none}\n";
    for (const fs::path& db : {folder / "none.sqlite", database}) {
        int code = 0;
        std::size_t bytes = 0;
        const double s = best_s(o.rounds, [&] {
            const ProgramOutput out = run_program(
                {program.string(), "--database", db.string(), "plan", file.string()}, current_environment(), 600);
            code = out.exit_code;
            bytes = out.text.size();
        });
        if (code != 0) throw EnvironmentError(fmt::format("gnnbench plan ended with {}", code));
        report.add(fmt::format("plan of {} cells, {}", o.cells, db == database ? "large database" : "no database"),
                   s, o.plan_limit_s, fmt::format("{} bytes printed", bytes));
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CLI::App app{"Time of queries on a large database, and of a large plan"};
    app.add_option("--epochs", o.epochs, "Epoch rows in the database")->check(CLI::PositiveNumber);
    app.add_option("--cells", o.cells, "Of the plan")->check(CLI::PositiveNumber);
    app.add_option("--rounds", o.rounds, "The best of so many counts")->check(CLI::PositiveNumber);
    app.add_option("--database", o.keep, "Keep the database in this file, and use it if it is there");
    app.add_flag("--check", o.check, "Fail where a limit is not kept");
    CLI11_PARSE(app, argc, argv);
    try {
        const Folder folder;
        const fs::path path = o.keep.empty() ? folder.path / "large.sqlite" : fs::path(o.keep);
        if (!fs::exists(path)) fill(path, o.epochs);
        fmt::print("database of {} epoch rows, {:.0f} MB\n",
                   std::get<std::int64_t>(query(path, "SELECT count(*) FROM epoch").rows.at(0).at(0)),
                   static_cast<double>(fs::file_size(path)) / 1e6);
        Report report(o.check);
        bench_queries(o, path, report);
        bench_plan(o, folder.path, path, report);
        return report.code();
    } catch (const Error& e) {
        fmt::print(stderr, "bench_results: {}\n", e.what());
        return 5;
    }
}
