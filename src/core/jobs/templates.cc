#include "src/core/jobs/templates.h"

#include "src/base/codec.h"
#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei::core {

Answer Templates::decide(const PutJobTemplate& c, Turn& turn) {
  const StoredFacts* before = find(c.row.ns, c.row.name);
  if (before == nullptr && all_.size() >= config_.max_templates) {
    return absl::ResourceExhaustedError(cat("there are ", config_.max_templates,
                                            " templates, which is the limit; delete one with `hodei template rm`"));
  }
  TemplateRow row = c.row;
  row.revision = before == nullptr ? 1 : before->revision + 1;
  row.updated = turn.wall();
  turn.write(Put<TemplateRow>(row));
  audit_.record_act({"template.set", row.name, cat("revision ", row.revision), row.ns}, turn);
  return TemplatePut{std::move(row)};
}

Answer Templates::decide(const DropJobTemplate& c, Turn& turn) {
  if (find(c.ns, c.name) == nullptr) {
    return absl::NotFoundError(cat("there is no template '", c.name, "' in namespace '", c.ns, "'"));
  }
  turn.write(Erase<TemplateRow>{{c.ns, c.name}});
  audit_.record_act({"template.removed", c.name, "", c.ns}, turn);
  return Done{};
}

const StoredFacts* Templates::find(const std::string& ns, const std::string& name) const {
  const auto it = all_.find({ns, name});
  return it == all_.end() ? nullptr : &it->second;
}

void Templates::fold(const Put<TemplateRow>& write) {
  const TemplateRow& row = *write.row;
  all_[{row.ns, row.name}] = {row.revision, row.updated, hash64(row.bytes)};
}

uint64_t Templates::digest() const {
  uint64_t sum = 0;
  for (const auto& [name, row] : all_) {
    Encoder out;
    out.u64(1).text(name.first).text(name.second).i64(row.revision).i64(row.updated.us).u64(row.hash);
    sum += hash64(out.bytes());
  }
  return sum;
}

}  // namespace hodei::core
