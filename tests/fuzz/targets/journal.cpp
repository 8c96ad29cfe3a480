// A dead host's journal: it is replayed into a database, and whatever its bytes are the next replay finds nothing to do.
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/target.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "record/journal.hpp"
#include "record/replay.hpp"

namespace fs = std::filesystem;
using namespace gnnbench;

namespace {

/// A folder in memory for the whole run; each input gets a database of its own in it.
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

}  // namespace

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(bytes) {
    static Database database(folder() / "r.sqlite");
    static int inputs = 0;
    if (++inputs % 500 == 0) {  // or it grows, and every input with it
        database = Database(folder() / ("r" + std::to_string(inputs) + ".sqlite"));
    }
    const fs::path journals = journal_folder(database.path());
    fs::create_directories(journals);
    std::ofstream(journals / "h-1-x.jsonl", std::ios::binary) << bytes;
    replay_dead_journals(database);
    if (fs::exists(journals / "h-1-x.jsonl")) std::abort();
    fs::remove(journals / "h-1-x.jsonl.damaged");
}
