// Where a command that names neither looks for its database and datasets.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include <gnnbench/temporary_folder.hpp>

#include "cli/project.hpp"

using namespace gnnbench;
namespace fs = std::filesystem;

namespace {

struct Tree {
    TemporaryFolder folder{"project"};
    fs::path home = folder.path() / "home";

    Tree() { fs::create_directories(home); }
    fs::path operator()(const std::string& below) const {
        fs::create_directories(home / below);
        return home / below;
    }
    void file(const std::string& below) const {
        fs::create_directories((home / below).parent_path());
        std::ofstream(home / below) << "x";
    }
    fs::path root(const std::string& below) const {
        return project_root((*this)(below), home).lexically_relative(home);
    }
};

}  // namespace

TEST_CASE("a folder without a project around it is its own root") {
    const Tree t;
    CHECK(t.root("a/b") == "a/b");
    fs::create_directories(t.home / "a/datasets/mnist");  // another program's
    CHECK(t.root("a/b") == "a/b");
}

TEST_CASE("a database or stores of datasets make a root of their folder, the nearest counts") {
    const Tree t;
    t.file("p/gnnbench.sqlite");
    CHECK(t.root("p") == "p");
    CHECK(t.root("p/experiments/deep") == "p");
    t.file("p/experiments/datasets/cora/manifest.json");
    CHECK(t.root("p/experiments/deep") == "p/experiments");
    CHECK(t.root("p/other") == "p");
}

TEST_CASE("without these a work tree of git is the project, but results outside it are not passed over") {
    const Tree t;
    t.file("p/.git");  // a work tree's is a file
    CHECK(t.root("p/experiments/deep") == "p");
    t.file("p/experiments/gnnbench.sqlite");
    CHECK(t.root("p/experiments/deep") == "p/experiments");
    CHECK(t.root("p/other") == "p");
}

TEST_CASE("the search ends below home, and at folders that are not the user's alone") {
    const Tree t;
    t.file("gnnbench.sqlite");
    t.file(".git");
    CHECK(t.root("a/b") == "a/b");
    CHECK(project_root(t.home, t.home) == t.home);
    t.file("shared/gnnbench.sqlite");
    t("shared/mine/exp");
    CHECK(t.root("shared/mine/exp") == "shared");
    fs::permissions(t.home / "shared", fs::perms::others_write, fs::perm_options::add);
    CHECK(t.root("shared/mine/exp") == "shared/mine/exp");
}
