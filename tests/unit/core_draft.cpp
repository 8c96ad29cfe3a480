#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include <gnnbench/temporary_folder.hpp>

#include "core/draft_file.hpp"

using namespace gnnbench;

namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& file) {
    struct stat info{};
    REQUIRE(stat(file.c_str(), &info) == 0);
    return info.st_mode & 0777;
}

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

auto files_in(const fs::path& folder) { return std::distance(fs::directory_iterator(folder), {}); }

}  // namespace

TEST_CASE("a draft is beside its target until it is published, and gone where it is not") {
    const TemporaryFolder folder("drafts");
    const fs::path target = folder.path() / "kept";
    const auto before = files_in(folder.path());
    {
        DraftFile draft(target);
        draft.write("half");
        CHECK(draft.path().parent_path() == folder.path());
        CHECK(!fs::exists(target));
    }
    CHECK(files_in(folder.path()) == before);
    {
        DraftFile draft(target);
        draft.write("all ");
        draft.write("of it");
        draft.publish();
    }
    CHECK(text_of(target) == "all of it");
    CHECK(files_in(folder.path()) == before + 1);
}

TEST_CASE("a draft has the mode of what it replaces or resembles, and no two have one name") {
    const TemporaryFolder folder("drafts");
    const fs::path secret = folder.path() / "secret", copy = folder.path() / "copy";
    std::ofstream(secret) << "x";
    fs::permissions(secret, fs::perms::owner_read | fs::perms::owner_write);
    DraftFile again(secret), beside(copy, secret), other(copy, secret);
    CHECK(mode_of(again.path()) == 0600);
    CHECK(mode_of(beside.path()) == 0600);
    CHECK(beside.path() != other.path());
    beside.publish();
    CHECK(mode_of(copy) == 0600);
}

TEST_CASE("a target that is a link to another's file is replaced, not written through") {
    const TemporaryFolder folder("drafts");
    const fs::path theirs = folder.path() / "theirs", target = folder.path() / "target";
    std::ofstream(theirs) << "theirs";
    fs::create_symlink(theirs, target);
    DraftFile draft(target);
    draft.write("ours");
    draft.publish();
    CHECK(text_of(theirs) == "theirs");
    CHECK(text_of(target) == "ours");
}

TEST_CASE("drafts of killed processes are removed with what SQLite left beside them, others' files stay") {
    const TemporaryFolder folder("drafts");
    const fs::path target = folder.path() / "r.sqlite.backup-v1";
    const auto name = [&](const char* text) { return folder.path() / text; };
    for (const char* left :
         {".r.sqlite.backup-v1.0123456789abcdef.draft", ".r.sqlite.backup-v1.0123456789abcdef.draft-journal",
          ".r.sqlite.backup-v1-2.x.draft"})
        std::ofstream(name(left)) << "";
    remove_left_drafts(target);
    CHECK(!fs::exists(name(".r.sqlite.backup-v1.0123456789abcdef.draft")));
    CHECK(!fs::exists(name(".r.sqlite.backup-v1.0123456789abcdef.draft-journal")));
    CHECK(fs::exists(name(".r.sqlite.backup-v1-2.x.draft")));
}
