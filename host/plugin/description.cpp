#include "plugin/description.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

/// An ELF file, read by its headers; every access is checked to be inside the file.
class ElfFile {
public:
    explicit ElfFile(const std::filesystem::path& path) : path_(path) {
        // Not blocking: opening a pipe would wait for its writer.
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor_ < 0) refuse(std::strerror(errno));
        struct stat info{};
        if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) close_and_refuse("it is no regular file");
        size_ = static_cast<std::uint64_t>(info.st_size);
    }
    ElfFile(const ElfFile&) = delete;
    ~ElfFile() { ::close(descriptor_); }

    [[noreturn]] void refuse(const std::string& why) const {
        throw PluginError(fmt::format("{} cannot be opened: {}.", path_.string(), why));
    }
    bool holds(std::uint64_t offset, std::uint64_t bytes) const {
        return bytes <= size_ && offset <= size_ - bytes;
    }

    /// `count` entries of a table from `offset` on.
    template <class T>
    std::vector<T> table(std::uint64_t offset, std::uint64_t count) const {
        if (count > size_ / sizeof(T) || !holds(offset, count * sizeof(T))) refuse("it is damaged or truncated");
        std::vector<T> entries(count);
        const std::size_t bytes = count * sizeof(T);
        if (::pread(descriptor_, entries.data(), bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes))
            refuse("it cannot be read");
        return entries;
    }
    template <class T>
    T read(std::uint64_t offset) const {
        return table<T>(offset, 1).front();
    }

private:
    [[noreturn]] void close_and_refuse(const std::string& why) {
        ::close(descriptor_);
        refuse(why);
    }

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

Elf64_Ehdr read_header(const ElfFile& file) {
    if (!file.holds(0, sizeof(Elf64_Ehdr))) file.refuse("it is not a shared library");
    const auto header = file.read<Elf64_Ehdr>(0);
    const bool elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    if (!elf || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_shentsize != sizeof(Elf64_Shdr))
        file.refuse("it is not a shared library for this machine");
    return header;
}

/// Checks what the dynamic loader will map: touching a page beyond the file's end would kill the process.
std::vector<Elf64_Phdr> read_segments(const ElfFile& file, const Elf64_Ehdr& header) {
    auto segments = file.table<Elf64_Phdr>(header.e_phoff, header.e_phnum);
    for (const Elf64_Phdr& s : segments)
        if (s.p_type == PT_LOAD && !file.holds(s.p_offset, s.p_filesz))
            file.refuse("it is damaged, or was cut short");
    return segments;
}

/// The string that begins at `at` of a table of strings.
std::optional<std::string> string_at(const std::vector<char>& texts, std::uint64_t at) {
    if (at >= texts.size()) return std::nullopt;
    const auto begin = texts.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = std::find(begin, texts.end(), '\0');
    if (end == texts.end()) return std::nullopt;
    return std::string(begin, end);
}

/// A table for the dynamic loader, with the strings that its entries name.
template <class Entry>
struct DynamicTable {
    std::vector<Entry> entries;
    std::vector<char> texts;
};

/// The first of a type; without entries where there is none.
template <class Entry>
DynamicTable<Entry> read_dynamic_table(const ElfFile& file, const std::vector<Elf64_Shdr>& sections,
                                       std::uint32_t type) {
    for (const Elf64_Shdr& s : sections) {
        if (s.sh_type != type) continue;
        if (s.sh_link >= sections.size()) file.refuse("it is damaged");
        const Elf64_Shdr& texts = sections[s.sh_link];
        return {file.table<Entry>(s.sh_offset, s.sh_size / sizeof(Entry)),
                file.table<char>(texts.sh_offset, texts.sh_size)};
    }
    return {};
}

/// The address of an exported object of at least `bytes`.
std::optional<std::uint64_t> find_symbol(const DynamicTable<Elf64_Sym>& symbols, std::string_view name,
                                         std::uint64_t bytes) {
    for (const Elf64_Sym& s : symbols.entries)
        if (s.st_shndx != SHN_UNDEF && s.st_size >= bytes && string_at(symbols.texts, s.st_name) == name)
            return s.st_value;
    return std::nullopt;
}

std::vector<std::string> needed_libraries(const DynamicTable<Elf64_Dyn>& dynamic) {
    std::vector<std::string> names;
    for (const Elf64_Dyn& d : dynamic.entries) {
        if (d.d_tag == DT_NULL) break;
        if (d.d_tag != DT_NEEDED) continue;
        if (auto name = string_at(dynamic.texts, d.d_un.d_val)) names.push_back(std::move(*name));
    }
    return names;
}

}  // namespace

std::optional<FileDescription> read_description(const std::filesystem::path& path) {
    constexpr std::size_t plain = offsetof(PluginInfo, name);  // what needs no relocation
    const ElfFile file(path);
    const Elf64_Ehdr header = read_header(file);
    const std::vector<Elf64_Phdr> segments = read_segments(file, header);
    const auto sections = file.table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    const auto address =
        find_symbol(read_dynamic_table<Elf64_Sym>(file, sections, SHT_DYNSYM), "gnnbench_plugin_info", plain);
    if (!address) return std::nullopt;
    for (const Elf64_Phdr& s : segments) {
        if (s.p_type != PT_LOAD || *address < s.p_vaddr || s.p_filesz < plain ||
            *address - s.p_vaddr > s.p_filesz - plain)
            continue;
        FileDescription said;
        const std::vector<char> first = file.table<char>(s.p_offset + (*address - s.p_vaddr), plain);
        std::memcpy(static_cast<void*>(&said.info), first.data(), plain);
        said.libraries = needed_libraries(read_dynamic_table<Elf64_Dyn>(file, sections, SHT_DYNAMIC));
        return said;
    }
    file.refuse("its description is not in the file");
}

namespace {

struct InterfaceLibrary {
    std::string_view name;
    int version;
};
/// Those besides the core, whose version the description has.
constexpr InterfaceLibrary toolkits[] = {{"training", GNNBENCH_TRAINING_VERSION},
                                         {"batches", GNNBENCH_BATCHES_VERSION}};

std::string built_with(std::string_view library, std::string_view theirs, int ours) {
    return fmt::format(" was built with version {} of the plugin interface's {}; this gnnbench has version {}. {}",
                       theirs, library, ours, rebuild_plugin);
}

/// A toolkit's file is named libgnnbench_<name>.so.<version>, by the linker.
std::string why_not_linked(std::string_view library) {
    for (const InterfaceLibrary& ours : toolkits) {
        const std::string stem = fmt::format("libgnnbench_{}.so.", ours.name);
        if (library.starts_with(stem) && library.substr(stem.size()) != std::to_string(ours.version))
            return built_with(ours.name, library.substr(stem.size()), ours.version);
    }
    return {};
}

}  // namespace

std::string why_not_loaded(const FileDescription& file) {
    const PluginInfo& info = file.info;
    if (std::memcmp(info.magic, "gnnbench", sizeof info.magic) != 0)
        return " is not a gnnbench plugin: its gnnbench_plugin_info does not begin with \"gnnbench\". Declare it "
               "with GNNBENCH_PLUGIN, or remove the file from the plugin folder.";
    if (info.info_layout != 1)
        return fmt::format(
            " was built to describe itself in layout {} of PluginInfo; this gnnbench reads layout 1. {}",
            info.info_layout, rebuild_plugin);
    if (info.core_version != GNNBENCH_CORE_VERSION)
        return built_with("core", std::to_string(info.core_version), GNNBENCH_CORE_VERSION);
    for (const std::string& library : file.libraries)
        if (std::string why = why_not_linked(library); !why.empty()) return why;
    return {};
}

}  // namespace gnnbench
