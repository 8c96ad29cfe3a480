#include <archive.h>
#include <archive_entry.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

#include <omp.h>

#include <data/import.hpp>
#include <data/importers/edge_lines.hpp>
#include <data/text_blocks.hpp>
#include <data/text_input.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;
using Weights = std::vector<float>;

/// The message of importing `content` as a file of this name.
std::string refusal(const std::string& name, const std::string& content, const json& options = json::object()) {
    TempFolder folder;
    auto file = folder.write(name, content);
    return message_of<DataError>([&] { import_file(file, "", options); });
}

RawDataset import_text(const std::string& name, const std::string& content, const json& options = json::object()) {
    TempFolder folder;
    return import_file(folder.write(name, content), "", options);
}

/// The content so many times over, by one of libarchive's filters.
void write_compressed(const fs::path& file, int filter, const std::string& content, int times) {
    auto a = archive_write_new();
    archive_write_add_filter(a, filter);
    archive_write_set_format_raw(a);
    REQUIRE(archive_write_open_filename(a, file.c_str()) == ARCHIVE_OK);
    auto entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(a, entry);
    for (int i = 0; i < times; ++i) archive_write_data(a, content.data(), content.size());
    archive_entry_free(entry);
    archive_write_free(a);
}

void write_gzip(const fs::path& file, const std::string& content) {
    write_compressed(file, ARCHIVE_FILTER_GZIP, content, 1);
}

}  // namespace

TEST_CASE("a header that promises more vertices than memory holds is refused") {
    if (machine_memory_bytes() > std::uint64_t{48} << 30) return;  // there it may be true
    TempFolder folder;
    const auto path = folder.write(
        "large.mtx", "%%MatrixMarket matrix coordinate pattern general\n2147483647 2147483647 1\n1 2\n");
    CHECK_THAT(message_of<EnvironmentError>([&] { import_file(path, "", nlohmann::json::object()); }),
               says("the rows of the graph (2147483647 vertices") && says("needs 588.0 GiB"));
}

TEST_CASE("malformed edge lists name file and line") {
    CHECK_THAT(refusal("a.txt", "0 1\n0 x\n"),
               says("a.txt:2: a vertex id is 'x', allowed are whole numbers from 0 on"));
    CHECK_THAT(refusal("a.txt", "# c\n0 1\n-1 2\n"), says("a.txt:3: a vertex id is '-1'"));
    CHECK_THAT(refusal("a.txt", "0\n"), says("a.txt:1: expected two vertex ids, found '0'"));
    for (const auto* header : {"from,to\n0,1\n", "\"from\",\"to\"\n0,1\n", "_id1 _id2\n0 1\n2 3\n", "from,to"})
        CHECK_THAT(refusal("a.csv", header), says("set `skip_lines: 1`"));
    // an edge, damaged, or labels: who drops that line loses an edge
    for (const auto* edge :
         {"0x,1\n0,1\n", "\"0\",\"1\"\n0,1\n", "-1,2\n0,1\n", "1.5 2\n0 1\n", "alice bob\nbob carol\n"})
        CHECK_THAT(refusal("a.csv", edge), says("a.csv:1: a vertex id is") && !says("skip_lines"));
    CHECK_THAT(refusal("a.txt", "0 1 5\n"), says("found 3 columns"));
    CHECK_THAT(refusal("a.txt", "0 1\n", {{"weights", "third"}}), says("two vertex ids and a weight"));
    CHECK_THAT(refusal("a.txt", "0 1 nan\n", {{"weights", "third"}}),
               says("the weight is 'nan', allowed are finite"));
    CHECK_THAT(refusal("a.txt", "0 99999999999999999999\n"), says("a.txt:1"));
    CHECK_THAT(refusal("a.txt", "0 5\n", {{"ids", "keep"}, {"vertices", 5}}),
               says("vertex id 5; with `ids: keep`"));
    CHECK_THAT(refusal("a.txt", "0 5\n", {{"ids", "keep"}, {"first_id", 1}}), says("vertex id 0"));
    CHECK_THAT(refusal("a.txt", "0 1\n\n0 1\n", {{"repeats", "error"}}), says("a.txt:3: edge 0 → 1"));
    CHECK_THAT(refusal("a.txt", "# nothing\n"), says("it has no vertices"));
    CHECK_THAT(refusal("a.xyz", ""), says("does not determine its format"));
    CHECK_THAT(message_of<DataError>([] { import_file("/nowhere/a.txt", "", json::object()); }),
               says("there is no such file"));
}

TEST_CASE("a byte order mark is no part of a text, UTF-16 is named") {
    const std::string mark = "\xef\xbb\xbf";
    const std::pair<const char*, std::string> texts[] = {
        {"a.csv", "1,2\r\n2,3\r\n3,1\r\n"},
        {"a.txt", "# Nodes: 3 Edges: 3\n1\t2\n2\t3\n3\t1\n"},
        {"a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n"},
        {"a.graph", "3 2\n2\n1 3\n2\n"},
        {"a.abc", "x y\ny z\nz x\n"},
    };
    for (const auto& [name, text] : texts) {
        INFO(name);
        const auto plain = import_text(name, text).graph, marked = import_text(name, mark + text).graph;
        CHECK(marked.indptr == plain.indptr);
        CHECK(marked.indices == plain.indices);
        CHECK(marked.listed_edges == plain.listed_edges);
        std::string wide = "\xff\xfe";
        for (const char c : text) wide += {c, '\0'};
        CHECK_THAT(refusal(name, wide), says("it is UTF-16"));
        CHECK_THAT(refusal(name, wide.substr(2)), says("it is UTF-16"));
    }
    TempFolder folder;
    write_gzip(folder / "b.txt.gz", mark + "7 8\n");
    CHECK(import_file(folder / "b.txt.gz", "", json::object()).graph.vertices() == 2);
    CHECK_THAT(refusal("a.txt", mark), says("it has no vertices"));
}

TEST_CASE("Matrix Market is known by its first line, whatever its name") {
    const std::string text = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 2\n";
    for (const std::string name : {"a.txt", "a.csv", "a.anything"}) {
        const auto d = import_text(name, text);
        CHECK(d.graph.vertices() == 3);
        CHECK(d.graph.weights == Weights{2, 0.5});
        CHECK(import_text(name, "\xef\xbb\xbf" + text).graph.weights == Weights{2, 0.5});
    }
}

TEST_CASE("options are checked") {
    TempFolder folder;
    auto file = folder.write("a.txt", "0 1\n");
    auto refused = [&](const json& o) { return message_of<SpecError>([&] { import_file(file, "", o); }); };
    CHECK_THAT(refused({{"direct", true}}), says("; did you mean 'directed'?"));
    CHECK_THAT(refused({{"loops", "maybe"}}), says("one of keep, drop"));
    CHECK_THAT(refused({{"features", 0}}), says("features"));
    CHECK_THAT(refused({{"train_fraction", 0.9}}), says("add up to 1.3"));
    CHECK_THAT(message_of<SpecError>([&] { import_file(file, "metos", json::object()); }),
               says("did you mean 'metis'"));
}

TEST_CASE("edge lists: comments, CRLF, separators, sparse ids, no end of line") {
    for (auto text :
         {"# c\r\n10 30\r\n30 20\r\n", "% c\n10\t30\n\n30\t20", "10,30\n30 , 20\n", "10;30\n 30  20 \n"}) {
        auto d = import_text("a.txt", text);
        INFO(text);
        CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 0, 1, 2});
        CHECK(d.graph.indices == Ids{2, 0});  // 10, 20, 30 become 0, 1, 2
        CHECK(d.graph.weights.empty());
    }
    auto kept = import_text("a.txt", "1 3\n3 2\n", {{"ids", "keep"}, {"first_id", 1}, {"vertices", 5}});
    CHECK(kept.graph.vertices() == 5);
    CHECK(kept.graph.indices == Ids{2, 0});
    auto reversed =
        import_text("a.csv", "u,v,w\n0,1,2.5\n", {{"reverse", true}, {"weights", "third"}, {"skip_lines", 1}});
    CHECK(reversed.graph.indices == Ids{1});
    CHECK(reversed.graph.indptr == std::vector<std::int64_t>{0, 1, 1});
    CHECK(reversed.graph.weights == Weights{2.5f});
    CHECK(import_text("a.txt", "0 1\n1 0\n", {{"directed", false}}).graph.repeats_merged == 1);
}

TEST_CASE("a text in blocks is the text, plain or compressed, whatever the lengths of its lines") {
    TempFolder folder;
    std::string text;
    for (std::size_t i = 0; i < 300; ++i) text += std::string(i * 37 % 101, 'x') + "\n";
    for (const std::string& content :
         {text, text + "no end", std::string("\n"), std::string("alone"), std::string()}) {
        const auto plain = folder.write("t.txt", content);
        write_gzip(folder / "t.gz", content);
        for (const auto& path : {plain, folder / "t.gz"})
            for (const std::size_t block_bytes : {1, 16, 100, 5000, 1000000}) {
                TextBlocks blocks(path, block_bytes);
                std::string all;
                for (std::string_view block; blocks.next(block);) {
                    CHECK_FALSE(block.empty());
                    std::string runs;
                    for (const std::string_view run : runs_of_lines(block, 3)) {
                        CHECK((run.empty() || run.ends_with('\n') || runs.size() + run.size() == block.size()));
                        runs += run;
                    }
                    CHECK(runs == block);
                    all += block;
                    CHECK((block.ends_with('\n') || all.size() == content.size()));
                }
                CHECK(all == content);
            }
    }
}

TEST_CASE("an edge list is the same on any number of threads, and its first wrong line is named") {
    TempFolder folder;
    std::string text = "a header\n";
    for (int i = 0; i < 3000; ++i) {
        if (i % 97 == 0) text += "# a comment\n\n";
        text += std::to_string(i * 7919 % 2003) + (i % 3 == 0 ? "\t" : " , ") + std::to_string(i * 31 % 1999);
        text += i % 5 == 0 ? " 1.5e0\r\n" : " +2 more\n";
    }
    const EdgeLineRules rules{.weights = WeightColumn::third, .skip_lines = 1, .keep_lines = true};
    const int before = omp_get_max_threads();
    ListedIds first;
    for (const int threads : {1, 2, 5, 64}) {
        omp_set_num_threads(threads);
        const ListedIds ids = read_edge_lines(folder.write("t.txt", text), rules);
        if (threads == 1) first = ids;
        CHECK(ids.source.size() == 3000);
        CHECK(ids.source == first.source);
        CHECK(ids.target == first.target);
        CHECK(ids.weight == first.weight);
        CHECK(ids.line == first.line);
        const auto wrong = folder.write("w.txt", text + "5 6 7\n8 9\n1 x 3\n");
        CHECK_THAT(message_of<DataError>([&] { read_edge_lines(wrong, rules); }),
                   says("w.txt:3065: expected two vertex ids and a weight, found '8 9'"));
    }
    omp_set_num_threads(before);
    CHECK(first.source[1] == 7919 % 2003);
    CHECK(first.weight[0] == 1.5f);
    CHECK(first.weight[1] == 2);
    CHECK(first.line[0] == 4);  // after the header, a comment and a blank line
    const auto zeros = folder.write("z.txt", "000000000000000000000001 2\n9223372036854775807 0\n");
    const ListedIds wide = read_edge_lines(zeros, {});
    CHECK(wide.source == Ids64{1, INT64_MAX});
    const auto wider = folder.write("y.txt", "1 2\n690745600 9223372036854775808\n");
    CHECK_THAT(message_of<DataError>([&] { read_edge_lines(wider, {}); }), says("y.txt:2: "));
}

TEST_CASE("ids of any length are read by their digits, whatever comes after them") {
    TempFolder folder;
    for (const std::string between : {" ", "\t", ",", ";  "})
        for (const std::string end : {"\n", "\r\n", " \n"}) {
            std::string text;
            Ids64 ids;
            for (std::int64_t id : {0, 7, 9, 10, 99, 1000, 9999999, 12345678, 99999999, 100000000, 123456789})
                ids.push_back(id);
            for (std::int64_t power = 1000000000; power < 100000000000000000; power *= 10)
                ids.push_back(power + 7);
            ids.push_back(999999999999999999);
            for (const auto id : ids)
                text += std::to_string(id) + between + "00" + std::to_string(id % 1000) + end;
            const auto read = read_edge_lines(folder.write("edges.txt", text), {});
            CHECK(read.source == ids);
            for (auto& id : ids) id %= 1000;
            CHECK(read.target == ids);
        }
    for (const std::string wrong : {"12/ 3", "12: 3", "1234567: 3", "12\xb0 3", "12\xff 3",
                                    "\xf7"
                                    "2 3",
                                    "1 12345678a", "1 -2"}) {
        INFO(wrong);
        const auto file = folder.write("wrong.txt", wrong + "\n4 5\n6 7\n");
        CHECK_THAT(message_of<DataError>([&] { read_edge_lines(file, {}); }), Catch::Contains("wrong.txt:1"));
    }
}

TEST_CASE("ids are renumbered in ascending order, near each other or far apart") {
    for (const std::int64_t far : {std::int64_t{3}, std::int64_t{1} << 50}) {
        const std::string large = std::to_string(7 * far);
        const auto d = import_text("a.txt", large + " 2\n2 " + std::to_string(far) + "\n");
        CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 1, 2, 2});
        CHECK(d.graph.indices == Ids{2, 0});
    }
}

TEST_CASE("compressed text reads like plain, and a cut file is told") {
    TempFolder folder;
    std::string text;
    for (int i = 0; i < 20000; ++i) text += std::to_string(i) + " " + std::to_string(i * 7919 % 20000) + "\n";
    write_gzip(folder / "a.txt.gz", text);
    auto packed = import_file(folder / "a.txt.gz", "", json::object());
    auto plain = import_file(folder.write("a.txt", text), "", json::object());
    CHECK(packed.graph.indices == plain.graph.indices);
    CHECK(packed.name == "a");
    fs::resize_file(folder / "a.txt.gz", fs::file_size(folder / "a.txt.gz") / 2);
    CHECK_THAT(message_of<DataError>([&] { import_file(folder / "a.txt.gz", "", json::object()); }),
               says("damaged or incomplete"));
}

TEST_CASE("a small file that unpacks to gigabytes is refused; one that is as large as it says is not") {
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    CHECK_NOTHROW(refuse_bomb("a.gz", gib, 1));  // harmless, whatever it is
    CHECK_NOTHROW(refuse_bomb("a.gz", 10 * gib, gib / 10));
    CHECK_NOTHROW(refuse_bomb("a.npy", 100 * gib, 100 * gib));
    CHECK_THAT(message_of<DataError>([] { refuse_bomb("a.gz", 2 * gib, gib / 128); }),
               says("a.gz: its 8388608 bytes unpack to more than 200 times as many; if that is right, unpack it"));
    const TempFolder folder;
    const auto comment = "#" + std::string(std::size_t{1} << 20, ' ') + "\n";
    write_compressed(folder / "comments.txt.zst", ARCHIVE_FILTER_ZSTD, comment, 1100);
    CHECK_THAT(message_of<DataError>([&] { import_file(folder / "comments.txt.zst", "", json::object()); }),
               says("unpack to more than 200 times as many"));
}

TEST_CASE("malformed METIS files name file and line") {
    CHECK_THAT(refusal("a.graph", ""), says("expected METIS' header"));
    CHECK_THAT(refusal("a.graph", "3\n"), says("a.graph:1: expected METIS' header"));
    CHECK_THAT(refusal("a.graph", "2 1\n2\n"), says("ends after the line of vertex 1"));
    CHECK_THAT(refusal("a.graph", "2 1\n2\n1\n1\n"),
               says("a.graph:4: its header states 2 vertices, but there is another line"));
    CHECK_THAT(refusal("a.graph", "2 1\n3\n1\n"),
               says("a.graph:2: a neighbour of vertex 1 is '3', allowed are whole numbers 1 to 2"));
    CHECK_THAT(refusal("a.graph", "2 2\n2\n1\n"), says("promises 2 edges, its lines list 1"));
    CHECK_THAT(refusal("a.graph", "3 1\n2\n\n1\n"), says("a.graph:2: vertex 1 lists 2, but 2 does not list 1"));
    CHECK_THAT(refusal("a.graph", "2 1 1\n2\n1 4\n"), says("each with a weight, of vertex 1, found 1 numbers"));
    CHECK_THAT(refusal("a.graph", "2 1 7\n2\n1\n"), says("fmt"));
}

TEST_CASE("METIS: weights, sizes, comments, empty rows") {
    auto d = import_text("a.graph", "% c\n4 2 1\n2 5 3 7\n1 5\n% c\n1 7\n\n");
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 2, 3, 4, 4});
    CHECK(d.graph.indices == Ids{1, 2, 0, 0});
    CHECK(d.graph.weights == Weights{5, 7, 5, 7});
    CHECK(d.graph.listed_edges == 2);
    // A vertex size, two vertex weights, then the neighbours.
    auto sized = import_text("b.graph", "2 1 110 2\n9 8 7 2\n9 8 7 1\n");
    CHECK(sized.graph.indices == Ids{1, 0});
    CHECK(sized.graph.weights.empty());
}

TEST_CASE("malformed Matrix Market files name file and line") {
    std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    CHECK_THAT(refusal("a.mtx", "1 1 1\n"), says("a.mtx:1: expected \"%%MatrixMarket"));
    CHECK_THAT(refusal("a.mtx", "%%MatrixMarket matrix array real general\n"),
               says("'array' is not read; allowed is coordinate"));
    CHECK_THAT(refusal("a.mtx", "%%MatrixMarket matrix coordinate complex general\n"),
               says("'complex' is not read"));
    CHECK_THAT(refusal("a.mtx", banner + "2 3 1\n1 1 1\n"),
               says("a.mtx:2: a graph's matrix is square, found 2 × 3"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 1\n0 1 1\n"),
               says("a.mtx:3: a row is '0', allowed are whole numbers 1 to 2"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 1\n1 1\n"), says("expected row, column and value"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 2\n1 2 1\n"), says("states 2 entries and ends after 1"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 1\n1 2 1\n2 1 1\n"),
               says("a.mtx:4: expected the end after 1 entries"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 1\n1 2 inf\n"), says("the weight is 'inf'"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 1\n1 2 3 4\n"), says("a.mtx:3: expected row, column and value"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 2\n1 2 3\n# 4\n"), says("a.mtx:4: expected row, column and value"));
    CHECK_THAT(refusal("a.mtx", banner + "2 2 2\n1 2 3\n3 1 1\n"), says("a.mtx:4: a row is '3'"));
}

TEST_CASE("Matrix Market: comments between entries, CRLF, ignored values, and the line of a repeat") {
    const std::string file =
        "%%MatrixMarket matrix coordinate real symmetric\r\n% a comment\r\n\r\n3 3 4\r\n2 1 5e-1\r\n% another\r\n"
        "3 2 -2\r\n3 3 4\r\n3 1 1e-60";
    const auto weighted = import_text("a.mtx", file).graph;
    CHECK(weighted.indptr == std::vector<std::int64_t>{0, 2, 4, 7});
    CHECK(weighted.indices == Ids{1, 2, 0, 2, 0, 1, 2});
    CHECK(weighted.weights == Weights{0.5f, 0, 0.5f, -2, 0, -2, 4});
    CHECK(weighted.listed_edges == 4);
    const auto pattern = import_text("a.mtx", file, {{"weights", "ignore"}}).graph;
    CHECK(pattern.indices == weighted.indices);
    CHECK(pattern.weights.empty());
    const std::string twice =
        "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n% no entry\n2 3\n1 2\n";
    CHECK_THAT(refusal("a.mtx", twice, {{"repeats", "error"}}), says("a.mtx:6:") && says("first on line 3"));
}

TEST_CASE("Matrix Market: entry (i, j) is an edge from i to j; symmetric files hold one triangle") {
    auto d = import_text("a.mtx", "%%MatrixMarket matrix coordinate real general\n% c\n3 3 2\n1 2 5\n3 2 -1e0\n");
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 0, 2, 2});
    CHECK(d.graph.indices == Ids{0, 2});
    CHECK(d.graph.weights == Weights{5, -1});
    d = import_text("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n");
    CHECK(d.graph.indices == Ids{0, 1, 0, 2, 1});
    CHECK(d.graph.weights.empty());
    CHECK(d.graph.listed_edges == 3);
    auto ignored = import_text("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 7\n",
                               {{"weights", "ignore"}});
    CHECK(ignored.graph.weights.empty());
}

TEST_CASE("Matrix Market: files that count from 0, as HipMCL's, and numbers below float32's range") {
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    auto d = import_text("a.mtx", banner + "3 3 2\n0 1 5\n2 1 1e-60\n", {{"first_id", 0}});
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 0, 2, 2});
    CHECK(d.graph.indices == Ids{0, 2});
    CHECK(d.graph.weights == Weights{5, 0});
    CHECK_THAT(refusal("a.mtx", banner + "3 3 1\n0 1 5\n"), says("if the file counts from 0, set `first_id: 0`"));
    CHECK_THAT(refusal("a.mtx", banner + "3 3 1\n3 1 5\n", {{"first_id", 0}}),
               says("a row is '3', allowed are whole numbers 0 to 2"));
    CHECK_THAT(refusal("a.mtx", banner + "3 3 1\n2 1 1e60\n"), says("the weight is '1e60'"));
    CHECK_THAT(refusal("a.mtx", banner + "3 3 2\n2 1 5\n2 1 5\n", {{"repeats", "error"}}),
               says("a.mtx:4: edge 1 → 0"));
    CHECK(import_text("a.mtx", "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n1 2 7\n")
              .graph.weights == Weights{7});
}

TEST_CASE("triples: labels are numbered as they come, weights are in the third column or nowhere") {
    auto d =
        import_text("a.triples", "vertex_1\tvertex_2\t0.34\nvertex_1\tvertex_4\t1.50\nvertex_4\tvertex_1\t2\n");
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 1, 2, 3});
    CHECK(d.graph.indices == Ids{2, 0, 0});
    CHECK(d.graph.weights == Weights{2, 0.34f, 1.5f});
    d = import_text("a.abc", "# MCL's\n  cat  hat 1\nhat bat 2\n\n", {{"weights", "ignore"}});
    CHECK(d.graph.indices == Ids{0, 1});
    CHECK(d.graph.weights.empty());
    // With a tab on the line, labels may have blanks.
    d = import_text("a.abc", "big cat\tsmall hat\nsmall hat\tbig cat\n");
    CHECK(d.graph.indices == Ids{1, 0});
    CHECK(import_text("a.abc", "a b\nb a\na b\n", {{"directed", false}}).graph.repeats_merged == 2);
    CHECK_THAT(refusal("a.triples", "a b 1\na c\n"),
               says("a.triples:2: expected two labels and a weight, found 2 columns"));
    CHECK_THAT(refusal("a.triples", "a\n"),
               says("a.triples:1: expected two labels, and perhaps a weight, found 1"));
    CHECK_THAT(refusal("a.triples", "a b 1 2\n"), says("found 4 columns"));
    CHECK_THAT(refusal("a.triples", "a b nan\n"), says("a.triples:1: the weight is 'nan'"));
    CHECK_THAT(refusal("a.triples", "a b 1\na b 2\n", {{"repeats", "error"}}), says("a.triples:2: edge 0 → 1"));
    CHECK_THAT(refusal("a.triples", "# nothing\n"), says("it has no vertices"));
}

TEST_CASE("LINQS: both files, one line a paper") {
    TempFolder folder;
    auto cites = folder.write("t.cites", "b a\nc b\n");
    CHECK_THAT(message_of<DataError>([&] { import_file(cites, "", json::object()); }),
               says("there is no .content"));
    folder.write("t.content", "a 1 0 sport\nb 0 1 news\nc 0 0.5 news\n");
    auto d = import_file(folder.path(), "", {{"directed", true}});
    CHECK(d.graph.indptr == std::vector<std::int64_t>{0, 0, 1, 2});  // a cites b, b cites c
    CHECK(d.graph.indices == Ids{0, 1});
    CHECK(d.labels == Ids{1, 0, 0});
    CHECK(d.features == Weights{1, 0, 0, 1, 0, 0.5f});
    CHECK(d.name == "t");
    CHECK(d.synthetic == std::vector<std::string>{"masks"});
    folder.write("t.content", "a 1 0 sport\nb 0 news\n");
    CHECK_THAT(message_of<DataError>([&] { import_file(cites, "", json::object()); }), says("t.content:2"));
    folder.write("t.content", "a 1 0 sport\nb 0 1 news\n");
    CHECK_THAT(message_of<DataError>([&] { import_file(cites, "", json::object()); }),
               says("t.cites:2: paper 'c' has no line"));
}
