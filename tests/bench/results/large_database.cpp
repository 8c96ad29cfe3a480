#include "results/large_database.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "record/database.hpp"
#include "record/query.hpp"
#include "record/sqlite.hpp"

namespace gnnbench::bench {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t epochs_of_a_trial = 250, trials_of_a_cell = 10;

}  // namespace

void fill_database(const fs::path& path, std::int64_t epochs) {
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
    c.execute(
        series(cells) +
            R"(INSERT INTO cell (id, digest, identity, verification_key) SELECT i + 1, printf('%032x', i), json_object(
                      'dataset', json_object('name', printf('d%d', i % 5), 'digest', 'd'),
                      'scheme', json_object('name', printf('s%d', i % 10), 'label', printf('s%d', i % 10)),
                      'partitioner', json_object('name', printf('p%d', i / 70 % 2), 'label', printf('p%d', i / 70 % 2)),
                      'kernel', json_object('name', 'cpu', 'label', 'cpu'), 'gpus', 1 << (i / 10 % 7),
                      'threads_per_rank', 1, 'precision', 'float32', 'model', json('{"layers":"gcn","widths":[64]}'),
                      'train', json('{"optimizer":"adam","lr":0.01,"dropout":0}'), 'seed', i, 'epochs', 248,
                      'warmup', 2, 'slowdown', json('{"label":"none"}')), printf('v%d', i % 100) FROM n;)" +
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
    c.execute(
        "INSERT INTO epoch (trial_id, epoch, warmup, loss, wall_s, steps, samples, as_stated) SELECT trial.id, "
        "e.i, e.i < 2, 1.0 / (1 + e.i), 0.01, 1, 1000, NULL " +
            each,
        "fill");
    c.execute("INSERT INTO rank_epoch SELECT trial.id, e.i, 0, 0.01, 0.001, 1000000 " + each, "fill");
    c.execute("INSERT INTO rank_phase SELECT trial.id, e.i, 0, p.value, 0.003 " + each +
                  ", json_each('[\"comm\",\"gemm\",\"spmm\"]') p",
              "fill");
    c.execute("INSERT INTO rank_volume SELECT trial.id, e.i, 0, p.value, 'payload', 500, 500, 5 " + each +
                  ", json_each('[\"all_reduce\",\"broadcast\"]') p",
              "fill");
    c.execute("INSERT INTO stated_volume SELECT trial.id, 0, 'broadcast', 'payload', 500, 500, 5 FROM trial",
              "fill");
    c.execute("INSERT INTO evaluation SELECT trial.id, e.i, 'accuracy', 0.5, 0.4, 0.4, 0.01 " + each +
                  " WHERE e.i % 50 = 0",
              "fill");
    c.execute(
        "INSERT INTO span SELECT trial.id, 3, 0, e.i, 'compute', 'spmm', 'spmm', e.i * 1e-5, e.i * 1e-5, 0, 0 " +
            each + " WHERE trial.id % 10 = 0",
        "fill");
    c.execute(
        "INSERT INTO tag SELECT printf('tag%d', id % 7), id FROM trial WHERE id % 3 = 0;"
        "INSERT INTO import (id, source, imported) VALUES (1, 'other.sqlite', '');"
        "INSERT INTO imported_trial SELECT id, 1 FROM trial WHERE id % 4 = 0;"
        "INSERT INTO verification (trial_id, key, status) SELECT id, printf('v%d', id % 100), 'verified' FROM "
        "trial "
        "WHERE id % 10 = 0",
        "fill");
    t.commit();
    c.execute("PRAGMA wal_checkpoint(TRUNCATE)", "fill");
}

void bench_queries(const fs::path& path, int rounds, double limit_s, LimitReport& report) {
    const auto value = [&](const char* sql) { return std::get<std::string>(query(path, sql).rows.at(0).at(0)); };
    const std::string trial = value("SELECT uuid FROM trial WHERE id % 10 = 0 ORDER BY id % 60, id LIMIT 1"),
                      cell = value("SELECT digest FROM cell ORDER BY id LIMIT 1 OFFSET 1");
    const auto time = [&](const std::string& what, const std::string& sql,
                          const std::vector<SqlValue>& arguments) {
        std::size_t rows = 0;
        const double s = best_s(rounds, [&] { rows = query(path, sql, arguments).rows.size(); });
        report.add(what, s, limit_s, fmt::format("{} rows", rows));
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

}  // namespace gnnbench::bench
