//! The server: which requests are answered, and how a tool's answer or error is told.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, model};

use super::place::Place;
use super::tool::{Answer, Groups, Tool};
use super::tools;
use super::{prompts, resources};
use crate::base::error::Error;

/// What a client is told at first.
const INSTRUCTIONS: &str = "Memory that outlives a session, kept in this git repository. Start with `brief`. Keep facts \
    with set_breadcrumb, context with trace_commit, and leave a note with forward_crumb_leave before you end.";

/// The methods whose parameters are known; a request of theirs that could not be read has wrong ones.
const METHODS: [&str; 8] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

/// A server for one client.
pub(crate) struct Server {
    place: Place,
    groups: Groups,
}

impl Server {
    pub(crate) fn new(place: Place, groups: Groups) -> Self {
        Self { place, groups }
    }

    fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        tools::all().filter(|tool| self.groups.have(tool))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("git-trace", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.tools().map(Tool::listed).collect::<Result<Vec<model::Tool>, _>>();
        Ok(ListToolsResult::with_all_items(listed.map_err(|error| internal(&error))?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools().find(|tool| tool.name == request.name) else {
            return Err(unknown_tool(&request.name));
        };
        let arguments = request.arguments.unwrap_or_default();
        // A panic would leave the request without an answer, and the client waiting.
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| tool.call(&self.place, &arguments))) else {
            return Err(ErrorData::internal_error(format!("tool `{}` failed in a way it should not", tool.name), None));
        };
        Ok(match answer {
            Ok(answer) => told(answer).into(),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(refusal(&error))]).into(),
        })
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::list(&self.place).map_err(|error| internal(&error))?;
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&self.place, &request.uri) {
            Ok(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            Err(error) => Err(ErrorData::resource_not_found(refusal(&error), None)),
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match prompts::get(&self.place, &request.name) {
            Ok(prompt) => Ok(prompt.into()),
            Err(error) => Err(ErrorData::invalid_params(refusal(&error), None)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        if METHODS.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(format!("the parameters of {method} cannot be read"), None));
        }
        let method: String = method.chars().take(60).collect();
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {}", method.escape_debug()), None))
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    let is_elsewhere = tools::all().any(|tool| tool.name == name);
    let name: String = name.chars().take(60).collect();
    let more = if is_elsewhere { "; `git trace mcp --tools all` offers it" } else { "" };
    ErrorData::invalid_params(format!("unknown tool: {}{more}", name.escape_debug()), None)
}

/// An answer as content: its text, a block for the warnings, and the structured value.
fn told(answer: Answer) -> CallToolResult {
    let Answer { value, text, warnings } = answer;
    let mut content = vec![ContentBlock::text(text.unwrap_or_else(|| value.to_string()))];
    if !warnings.is_empty() {
        content.push(ContentBlock::text(warnings.join("\n")));
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(value);
    result
}

/// An error as it is told: what, where and why, and the next step where there is one.
pub(crate) fn refusal(error: &Error) -> String {
    match error.hint() {
        Some(hint) => format!("error: {error:#}\nhint: {hint}"),
        None => format!("error: {error:#}"),
    }
}

/// An error that is not the client's.
pub(crate) fn internal(error: &Error) -> ErrorData {
    ErrorData::internal_error(format!("{error:#}"), None)
}
