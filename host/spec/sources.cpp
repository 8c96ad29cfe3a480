#include "spec/sources.hpp"

namespace gnnbench {

PluginSource::~PluginSource() = default;
DatasetSource::~DatasetSource() = default;

const char* yaml_word(PluginKind kind) {
    switch (kind) {
        case PluginKind::strategy:
            return "scheme";
        case PluginKind::partitioner:
            return "partitioner";
        case PluginKind::kernel:
            return "kernel";
        case PluginKind::importer:
            return "format";
    }
    return "";
}

}  // namespace gnnbench
