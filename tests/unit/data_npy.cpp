#include <ctime>

#include <fmt/format.h>
#include <sys/resource.h>

#include <gnnbench/error.hpp>

#include <data/npy.hpp>
#include <unit/data_support.hpp>

using namespace gnnbench;
using namespace gnnbench::test;

namespace {

std::string npy_bytes(const std::string& dictionary, const std::string& data) {
    std::string head = "\x93NUMPY";
    head += {'\x01', '\x00', static_cast<char>(dictionary.size()), '\x00'};
    return head + dictionary + data;
}

NpyArray array_of(const std::string& dictionary, const std::string& data) {
    auto text = npy_bytes(dictionary, data);
    auto first = reinterpret_cast<const std::byte*>(text.data());
    return NpyArray({first, first + text.size()}, "a.npy");
}

}  // namespace

TEST_CASE("what is no .npy file is refused with its name") {
    TempFolder folder;
    auto open = [&](const std::string& content) {
        auto file = folder.write("a.npy", content);
        return message_of<DataError>([&] { MappedArray<float> a(file); });
    };
    CHECK_THAT(message_of<DataError>([&] { MappedArray<float> a(folder / "none.npy"); }),
               says("none.npy: No such file"));
    CHECK_THAT(open(""), says("a.npy: expected a NumPy .npy file"));
    CHECK_THAT(open("a text, and no array"), says("no .npy signature"));
    CHECK_THAT(open(npy_bytes("{'descr': '<f4'}", "")), says("without descr, fortran_order or shape"));
    CHECK_THAT(open(npy_bytes("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "1234")),
               says("little-endian"));
    CHECK_THAT(open(npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "12345678")),
               says("expected elements of type '<f4', found '<f8'"));
    CHECK_THAT(open(npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}", "12345678")),
               says("C order"));
    CHECK_THAT(open(npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", "12345678")),
               says("shape (3, 2) and type '<f4', but there are only 8 bytes"));
    CHECK_THAT(
        open(npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", "1234")),
        says("truncated"));
    CHECK_THAT(
        open(npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 9)}", "1234")),
        says("too large"));
}

TEST_CASE("a full disk is an environment error with path and cause") {
    std::vector<float> values(1000);
    auto message = message_of<EnvironmentError>([&] { write_npy<float>("/dev/full", values, {1000}); });
    CHECK_THAT(message, says("cannot write /dev/full: No space left on device"));
    message = message_of<EnvironmentError>([&] { write_npy<float>("/proc/nowhere/a.npy", values, {1000}); });
    CHECK_THAT(message, says("/proc/nowhere/a.npy: No such file"));
}

TEST_CASE("arrays come back as they were written") {
    TempFolder folder;
    std::vector<std::int32_t> values{3, -1, 4, 1, -5, 9};
    write_npy<std::int32_t>(folder / "a.npy", values, {2, 3});
    MappedArray<std::int32_t> a(folder / "a.npy");
    CHECK(a.shape() == std::vector<std::int64_t>{2, 3});
    CHECK(std::vector(a.values().begin(), a.values().end()) == values);
    CHECK(fs::file_size(folder / "a.npy") % 8 == 0);  // NumPy's: header padded to 64 bytes, 24 of data

    auto moved = std::move(a);
    CHECK(moved.values()[5] == 9);
    write_npy<std::int32_t>(folder / "empty.npy", {}, {0});
    CHECK(MappedArray<std::int32_t>(folder / "empty.npy").values().empty());
}

TEST_CASE("matrices are written in either precision and read as float64") {
    TempFolder folder;
    HostMatrix m(2, 2);
    m.values = {1, 0.5, -2, 1e-3};
    write_matrix_npy(folder / "w.npy", m);
    CHECK(read_matrix_npy(folder / "w.npy").values == m.values);
    write_matrix_npy(folder / "w32.npy", m, DType::f32);
    auto narrow = read_matrix_npy(folder / "w32.npy");
    CHECK(narrow(1, 1) == static_cast<double>(1e-3f));
    write_npy<double>(folder / "b.npy", m.values, {4});
    CHECK(read_matrix_npy(folder / "b.npy").rows == 1);
    write_npy<std::int32_t>(folder / "i.npy", {}, {0});
    CHECK_THAT(message_of<DataError>([&] { read_matrix_npy(folder / "i.npy"); }), says("float32 or float64"));
}

TEST_CASE("members of archives convert, and say where they cannot") {
    std::string three_bytes{'\x01', '\xff', '\x02'};
    auto signed_bytes = array_of("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", three_bytes);
    CHECK(signed_bytes.as<std::int64_t>() == std::vector<std::int64_t>{1, -1, 2});
    CHECK_THAT(message_of<DataError>([&] { signed_bytes.as<std::uint8_t>(); }), says("value -1 does not fit"));
    // Columns first: 2 × 3 stored as (0,0) (1,0) (0,1) …
    auto columns = array_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "ABCDEF");
    CHECK(columns.as<std::int32_t>() == std::vector<std::int32_t>{'A', 'C', 'E', 'B', 'D', 'F'});
    auto text = array_of("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", "abcd");
    CHECK_THAT(message_of<DataError>([&] { text.as<float>(); }), says("'<U1'"));
    std::string nan{'\x00', '\x00', '\xc0', '\x7f'};
    auto not_a_number = array_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", nan);
    CHECK_THAT(message_of<DataError>([&] { not_a_number.as<std::int32_t>(); }), says("does not fit"));
}

TEST_CASE("rows without columns are read at once, however many there are, in either order") {
    for (const char* order : {"True", "False"}) {
        auto empty = array_of(
            fmt::format("{{'descr': '|b1', 'fortran_order': {}, 'shape': (2147483647, 0), }}", order), "");
        CHECK(empty.header().elements() == 0);
        const auto begin = std::clock();
        CHECK(empty.as<float>().empty());
        // A loop over the rows takes seconds.
        CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 0.2);
    }
}
