"""From files that people write to frozen types: workspace, strict YAML, templates, haystacks, plan."""
