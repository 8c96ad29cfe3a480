// A dead host's journal: it is replayed into an empty database; whatever its bytes are, nothing is left to replay.
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/target.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "record/apply.hpp"
#include "record/journal.hpp"
#include "record/replay.hpp"
#include "record/sqlite.hpp"

namespace fs = std::filesystem;
using namespace gnnbench;

namespace {

/// A folder in memory for the whole run.
const fs::path& folder() {
    static const fs::path made = [] {
        std::string name =
            (fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) + "/fuzz-journal-XXXXXX";
        if (!::mkdtemp(name.data())) std::abort();
        static const std::string remembered = name;
        std::atexit([] { fs::remove_all(remembered); });
        return fs::path(name);
    }();
    return made;
}

/// One database for all inputs, because its migrations take longer than most of them; each finds it empty.
class EmptiedDatabase {
public:
    EmptiedDatabase() : database_(folder() / "r.sqlite") {
        sqlite::Connection& c = database_.connection();
        // Nobody else reads it, and it need not outlive a power cut.
        c.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF",
                  "have the file alone");
        auto tables = c.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
                                "list the tables");
        while (tables.step()) clear_ += "DELETE FROM \"" + tables.text(0) + "\";";
        fs::create_directories(journal_folder(database_.path()));
    }

    Database& empty() {
        sqlite::Connection& c = database_.connection();
        c.execute("PRAGMA foreign_keys = OFF; BEGIN; " + clear_ + " COMMIT; PRAGMA foreign_keys = ON", "clear");
        database_.applier().forget();
        return database_;
    }

private:
    Database database_;
    std::string clear_;
};

}  // namespace

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(bytes) {
    static EmptiedDatabase emptied;
    Database& database = emptied.empty();
    static const fs::path journal = journal_folder(database.path()) / "h-1-x.jsonl";
    std::ofstream(journal, std::ios::binary) << bytes;
    replay_journal(database, journal);
    if (fs::exists(journal)) std::abort();
}
