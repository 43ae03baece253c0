# PowerShell completion for restaurant, as printed by: restaurant completion powershell
Register-ArgumentCompleter -Native -CommandName restaurant -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
            else { $_.Extent.Text }
        })
    if ($wordToComplete -eq '') { $words += '' }
    # PowerShell 5 changes empty words and quotes in arguments, and reads output in the encoding of the console.
    $json = ConvertTo-Json -Compress -InputObject @($words)
    $typed = [System.Convert]::ToBase64String([System.Text.Encoding]::UTF8.GetBytes($json))
    foreach ($line in @(& restaurant completion --complete powershell -- $typed 2>$null)) {
        $reply = ConvertFrom-Json -InputObject $line
        if ($null -eq $reply.path) {
            [System.Management.Automation.CompletionResult]::new($reply.text, $reply.name, 'ParameterValue', $reply.description)
        } else {
            foreach ($file in [System.Management.Automation.CompletionCompleters]::CompleteFilename($reply.path)) {
                [System.Management.Automation.CompletionResult]::new($reply.before + $file.CompletionText, $file.ListItemText, $file.ResultType, $file.ToolTip)
            }
        }
    }
}
