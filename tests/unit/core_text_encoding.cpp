#include <fstream>

#include <catch2/catch.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/part_file.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "core/text_encoding.hpp"

using namespace gnnbench;

TEST_CASE("a byte order mark goes, UTF-16 is told") {
    CHECK(without_mark("\xef\xbb\xbf 1") == " 1");
    CHECK(without_mark("1") == "1");
    CHECK(without_mark("\xef\xbb") == "\xef\xbb");
    using namespace std::string_view_literals;
    for (const auto wide : {"\xff\xfe"sv, "\xfe\xff\0x"sv, "1\0"sv, "\0001"sv}) CHECK(is_utf16(wide));
    for (const auto text : {""sv, "1"sv, "12"sv, "\xef\xbb\xbf 1"sv, "\xc3\xa4"sv}) CHECK_FALSE(is_utf16(text));
}

TEST_CASE("a part file may begin with a byte order mark") {
    const TemporaryFolder folder("parts");
    const auto file = folder.path() / "parts.txt";
    for (const char* text : {"\xef\xbb\xbf"
                             "1\n0\n",
                             "1\n0\n"}) {
        std::ofstream(file, std::ios::binary) << text;
        CHECK(read_part_file(file, 2, 2, 0).part_of == std::vector<Part>{1, 0});
    }
    std::ofstream(file, std::ios::binary) << "\xef\xbb\xbfx\n";
    CHECK_THROWS_WITH(read_part_file(file, 2, 2, 0), Catch::Contains("parts.txt:1: expected a whole number"));
    std::ofstream(file, std::ios::binary)
        .write(
            "\xff\xfe"
            "1\0",
            4);
    CHECK_THROWS_WITH(read_part_file(file, 2, 2, 0), Catch::Contains("it is UTF-16"));
}
