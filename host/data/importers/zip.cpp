#include <data/importers/zip.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/text_input.hpp>

namespace gnnbench {

namespace {

constexpr std::size_t longest_header = std::size_t{1} << 20;

/// Bytes of the whole array as its header states them; 0 where not even the header has arrived.
std::size_t stated_bytes(std::span<const std::byte> begun, const std::string& where) {
    const auto offset = npy_data_offset(begun);
    if (offset > longest_header) {
        parse_npy_header(begun, where);  // what is no .npy file at all is told as such
        throw DataError(fmt::format("{}: expected a NumPy .npy file, found a header of {} bytes", where, offset));
    }
    if (offset == 0 || offset > begun.size()) return 0;
    const auto header = parse_npy_header(begun, where);
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(header.elements(), static_cast<std::int64_t>(header.item_bytes()), &bytes) ||
        __builtin_add_overflow(bytes, static_cast<std::int64_t>(offset), &bytes))
        throw DataError(fmt::format("{}: its header states {} elements of type '{}'; the file is damaged", where,
                                    header.elements(), header.descr));
    return usize(bytes);
}

/// Bytes of an archive, and of what was read of it so far.
struct Unpacking {
    std::int64_t packed = 0, unpacked = 0;

    void add(std::size_t bytes, const std::string& where) {
        unpacked += static_cast<std::int64_t>(bytes);
        array_elements(where + ": the archive's arrays", {unpacked}, 1);
        refuse_bomb(where, unpacked, packed);
    }
};

/// Empty where it can be told in no way; nobody asks for such an array.
std::string member_name(archive_entry* entry) {
    for (const char* name : {archive_entry_pathname(entry), archive_entry_pathname_utf8(entry)})
        if (name) return name;
    return {};
}

/// A few bytes may unpack to any number: no more is taken than the array's header states.
std::vector<std::byte> read_member(archive* a, archive_entry* entry, const std::string& where, Unpacking& so_far) {
    std::vector<std::byte> bytes;
    std::size_t stated = 0;
    for (;;) {
        const void* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        auto status = archive_read_data_block(a, &data, &size, &offset);
        if (status == ARCHIVE_EOF) return bytes;
        if (status != ARCHIVE_OK)
            throw DataError(
                fmt::format("cannot read {}: {}; the file is damaged or incomplete", where, archive_problem(a)));
        so_far.add(size, where);
        auto first = static_cast<const std::byte*>(data);
        bytes.insert(bytes.end(), first, first + size);
        if (stated == 0) {
            stated = stated_bytes(bytes, where);
            const bool as_listed = stated != 0 && archive_entry_size_is_set(entry) &&
                                   archive_entry_size(entry) == static_cast<la_int64_t>(stated);
            if (as_listed) bytes.reserve(array_elements(where, {static_cast<std::int64_t>(stated)}, 1));
        }
        if (stated != 0 && bytes.size() > stated)
            throw DataError(fmt::format("{}: its header states {} bytes, but there are more; the file is damaged",
                                        where, stated));
    }
}

}  // namespace

std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path,
                                         const std::function<bool(const std::string&)>& wanted) {
    auto file = path.string();
    if (!std::filesystem::is_regular_file(path))
        throw DataError(fmt::format("cannot read {}: there is no such file", file));
    std::unique_ptr<archive, ArchiveCloser> handle(archive_read_new());
    auto a = handle.get();
    archive_read_support_format_zip_seekable(a);  // by its directory, at the end: an archive without is incomplete
    if (archive_read_open_filename(a, file.c_str(), 1 << 20) != ARCHIVE_OK)
        throw DataError(fmt::format("cannot read {}: {}", file, archive_problem(a)));
    std::map<std::string, NpyArray> arrays;
    Unpacking so_far{.packed = static_cast<std::int64_t>(std::filesystem::file_size(path))};
    archive_entry* entry = nullptr;
    for (;;) {
        auto status = archive_read_next_header(a, &entry);
        if (status == ARCHIVE_EOF) return arrays;
        // A warning: the locale has no characters for a name, which UTF-8 has.
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            throw DataError(fmt::format("cannot read {} as .npz: {}; the file is damaged or incomplete", file,
                                        archive_problem(a)));
        std::string name = member_name(entry);
        if (!name.ends_with(".npy")) continue;
        name.resize(name.size() - 4);
        if (!wanted(name)) continue;
        auto where = fmt::format("{} ({})", file, name);
        if (arrays.contains(name)) throw DataError(fmt::format("{}: it is there twice", where));
        arrays.emplace(name, NpyArray(read_member(a, entry, where, so_far), where));
    }
}

}  // namespace gnnbench
